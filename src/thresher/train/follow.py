"""How a learner is led through a feed."""

from thresher.learners.protocol import Learner
from thresher.train.feed import Feed
from thresher.train.work import Work
from thresher.workers import Workers


def follow(learner: Learner, work: Work, feed: Feed, run_all: Workers) -> None:
    """Learn everything a feed has, or until the learner has finished."""
    while feed.left and not learner.finished(work.state):
        count = min(learner.room(work.state), feed.left, feed.batch.slice_size)
        updates = feed.next(count, learner.schedule(work.state))
        learner.advance(work.state, work.rows, updates, run_all)
        run_all.check()
        if learner.room(work.state) == 0:
            learner.meet(work.state, work.vocabulary)
            work.shed()
