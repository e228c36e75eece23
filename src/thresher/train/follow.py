"""How a learner is led through a feed."""

from thresher.learners.protocol import Learner, Map
from thresher.train.feed import Feed
from thresher.train.work import Work


class Overflow(ArithmeticError):
    """The numbers of a model grew beyond what can be represented, at row ``row`` of the batch."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def follow(learner: Learner, work: Work, feed: Feed, run_all: Map) -> None:
    """Learn everything a feed has, or until the learner has finished."""
    while feed.left and not learner.finished(work.state):
        count = min(learner.room(work.state), feed.left, feed.batch.slice_size)
        updates = feed.next(count, learner.schedule(work.state))
        learnt = learner.advance(work.state, work.rows, updates, run_all)
        if learnt < count:
            raise Overflow(int(updates[0].order[learnt]))
        if learner.room(work.state) == 0:
            learner.meet(work.state, work.vocabulary)
            work.shed()
