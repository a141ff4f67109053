"""Records of the conjugate-gradient driver."""

from __future__ import annotations

from dataclasses import dataclass

from napari_cosparse.core.space import Array

from ._stop import Stop


@dataclass(frozen=True, eq=False)
class Onward:
    """What the driver needs beside an iterate to go on as if it had never stopped.

    Attributes
    ----------
    gradient : ndarray
        Riemannian gradient at the iterate's point.
    direction : ndarray
        Direction of the next step.
    slope : float
        Derivative of the cost along it.
    first : float
        First length to try, in units of the direction.
    """

    gradient: Array
    direction: Array
    slope: float
    first: float


@dataclass(frozen=True)
class Iterate:
    """One accepted step.

    Attributes
    ----------
    index : int
        Number of steps so far; 0 is the start.
    point : ndarray
        Where the solver is.
    value : float
        Cost there.
    gradient_norm : float
        Length of the Riemannian gradient there.
    length : float
        Length of the step that led there, in units of its direction.
    evaluations : int
        Evaluations of cost and gradient so far, counted where they happen.
    restarted : bool
        Whether the next direction is the steepest one instead of a conjugate one.
    stop : Stop or None
        Why this is the last iterate; None if it is not.
    onward : Onward or None
        For `iterate` to go on from here; None unless that was asked for.
    """

    index: int
    point: Array
    value: float
    gradient_norm: float
    length: float
    evaluations: int
    restarted: bool
    stop: Stop | None = None
    onward: Onward | None = None


@dataclass(frozen=True)
class Result:
    """End of a minimisation.

    Attributes
    ----------
    point : ndarray
        Best point.
    value : float
        Cost there.
    gradient_norm : float
        Length of the Riemannian gradient there.
    values : tuple of float
        Cost at the start and after each step; never rises.
    evaluations : int
        Evaluations of cost and gradient, counted where they happened.
    stop : Stop
        Why the solver ended; `stop.converged` says whether that means convergence.
    """

    point: Array
    value: float
    gradient_norm: float
    values: tuple[float, ...]
    evaluations: int
    stop: Stop

    @property
    def iterations(self) -> int:
        """Number of accepted steps."""
        return len(self.values) - 1
