"""Parameters that cannot change once learning has begun: what was learnt has their shape."""

from typing import Any


def refuse_change(estimator: Any, name: str, learnt: Any) -> None:
    """Raise a ValueError if a parameter is no longer what it was for what has been learnt."""
    value = getattr(estimator, name)
    if value != learnt:
        raise ValueError(
            f"{name}={value!r}, but what was learnt so far was learnt with {name}={learnt!r}, and "
            f"partial_fit and warm starts go on from there. Set it back, set_params({name}="
            f"{learnt!r}), or begin anew: fit, with warm_start=False."
        )
