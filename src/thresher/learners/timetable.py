"""When the flagship selects, when it refits, and for how long."""

import math
from dataclasses import dataclass

BURSTS_PER_STAGE = 2
SETTLING_SHARE = 0.3  # of the refit, before averaging begins
ENDLESS = 1 << 40  # bursts

# A stream has no known end. Its stages lengthen with the rows seen, each by the same share, so that
# the selection is never far from done whenever somebody looks; 40 of them have 54,055 rows.
STREAM_FIRST_STAGE = 100  # rows
STREAM_GROWTH = 5.6  # over all stages


@dataclass(frozen=True)
class Timetable:
    """``n_stages`` of selection, one of settling, one of averaging.

    ``fixed_burst`` is None on a stream: bursts then lengthen with the rows seen, and averaging
    never ends.
    """

    n_stages: int
    fixed_burst: int | None = None
    refit_bursts: int = 0

    @property
    def endless(self) -> bool:
        """Return whether this is the timetable of a stream."""
        return self.fixed_burst is None

    @property
    def averaging(self) -> int:
        """Return the number of the stage whose average is the model."""
        return self.n_stages + 2

    @property
    def last_stage(self) -> int:
        """Return the number of the last stage: the selection's last if nothing is refit."""
        if self.endless or self.refit_bursts:
            return self.averaging
        return self.n_stages

    def selects(self, stage: int) -> bool:
        """Return whether features are still being selected."""
        return stage <= self.n_stages

    def bursts(self, stage: int) -> int:
        """Return how many bursts a stage has."""
        if self.selects(stage):
            return BURSTS_PER_STAGE
        if self.endless:
            return ENDLESS if stage >= self.averaging else BURSTS_PER_STAGE
        settling = math.floor(SETTLING_SHARE * self.refit_bursts)
        return self.refit_bursts - settling if stage == self.averaging else settling

    def goes_on(self, stage: int, new_rows: int) -> bool:
        """Return whether another stage follows after so many rows, and not the same one again.

        A stream's learner may learn rows again. How far its selection goes follows the new ones:
        the others say nothing of features that are yet to come.
        """
        if not self.endless or stage > self.n_stages:
            return True
        growth = STREAM_GROWTH / self.n_stages
        alike = STREAM_FIRST_STAGE / growth  # rows before stages lengthen
        reached = new_rows / STREAM_FIRST_STAGE
        if new_rows > alike:
            reached = 1.0 / growth + math.log(new_rows / alike) / math.log1p(growth)
        return stage <= reached

    def burst_size(self, rows_seen: int) -> int:
        """Return the length of the bursts of a stage that begins after so many rows."""
        if self.fixed_burst is not None:
            return self.fixed_burst
        rows = max(STREAM_FIRST_STAGE, STREAM_GROWTH / self.n_stages * rows_seen)
        return math.ceil(rows / BURSTS_PER_STAGE)


def fixed_timetable(updates: int, n_stages: int, refit: float) -> Timetable:
    """Return the timetable for a known number of updates, a share ``refit`` of them at the end."""
    per_stage = (1.0 - refit) * updates / n_stages
    burst = max(1, math.ceil(per_stage / BURSTS_PER_STAGE))
    left = updates - n_stages * BURSTS_PER_STAGE * burst
    refit_bursts = max(1, math.ceil(left / burst)) if refit > 0 else 0
    return Timetable(n_stages, burst, refit_bursts)
