"""Why a solver ended, and whether that means convergence."""

from __future__ import annotations

from enum import Enum


class Stop(Enum):
    """Reason for the end of an optimisation; ``str()`` gives it in words."""

    GRADIENT_SMALL = ("gradient small", True)
    CHANGE_SMALL = ("cost no longer changes", True)
    BUDGET_SPENT = ("budget spent", False)
    NO_DESCENT = ("no descent", False)

    @property
    def converged(self) -> bool:
        """Whether the reason means that a minimum was reached."""
        return self.value[1]

    def __str__(self) -> str:
        """Return the reason in words."""
        return self.value[0]
