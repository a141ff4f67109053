"""The record that upsampling returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from napari_cosparse.core.descent import Stop

from ._kernels import Blur


@dataclass(frozen=True, eq=False)
class Upsampled:
    """A target on the guide's grid, and how it came about.

    Attributes
    ----------
    image : ndarray, shape (N1, N2)
        Result in the target's unit; float32, or the target's type with ``dtype="input"``. NaN
        outside the target's coverage.
    factor : tuple of float
        Distance of two target samples along rows and columns, in guide pixels.
    origin : tuple of float
        Position of sample (0, 0) on the guide's pixel grid, in pixels.
    blur : str
        Kernel of a sample.
    noise : float
        Standard deviation of the samples' noise that was used, in the target's unit; 0 if exact.
    noise_estimated : bool
        Whether `noise` was estimated from the samples.
    misfit : float
        Largest ``|Phi s - y|`` over the known samples, in the target's unit.
    overshoot : float
        How far the result leaves the range of the samples, as a share of that range (1-99 %
        quantiles).
    costs : tuple of float
        Cost after each iteration; comparable within a stage only.
    iterations, evaluations : int
        Accepted steps, and evaluations of cost and gradient, counted where they happen.
    stop : Stop
        Why the solver ended; `stop.converged` says whether that means convergence.
    guided : bool
        Whether the guide had a say; False for a constant guide too.
    parameters : dict
        All settings as JSON values.
    """

    image: NDArray[Any]
    factor: tuple[float, float]
    origin: tuple[float, float]
    blur: Blur
    noise: float
    noise_estimated: bool
    misfit: float
    overshoot: float
    costs: tuple[float, ...]
    iterations: int
    evaluations: int
    stop: Stop
    guided: bool
    parameters: dict[str, Any] = field(default_factory=dict)
