"""How a learner is led through a feed."""

from thresher.learners.protocol import Learner
from thresher.train.feed import Feed
from thresher.train.work import Work
from thresher.workers import Workers


def follow(learner: Learner, work: Work, feed: Feed, run_all: Workers) -> None:
    """Learn everything a feed has, or until the learner has finished."""
    while not learner.finished(work.state):
        if learner.room(work.state) <= 0:  # filled, or made smaller by whoever changed its settings
            learner.meet(work.state, work.vocabulary)
            work.shed(run_all)
            continue
        if not feed.left:
            return
        count = min(learner.room(work.state), feed.left, feed.batch.slice_size)
        updates = feed.next(count, learner.schedule(work.state))
        learner.advance(work.state, work.vocabulary, work.rows, updates, run_all)
        run_all.check()
