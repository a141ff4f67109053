"""Confidence of a target's samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import ApartError, InputError
from napari_cosparse.core.types import Plane

from ._sampling_protocol import Sampling
from ._scale import Scaled


def check_weights(weights: NDArray[np.float64] | None, shape: tuple[int, ...]) -> None:
    """Refuse confidences that do not fit the target.

    Parameters
    ----------
    weights : ndarray, shape (m1, m2), or None
        Confidence of each sample.
    shape : tuple of int
        Of a plane of the target.

    Raises
    ------
    InputError
        If the shape is another one, or a number is negative or not finite.
    """
    if weights is None:
        return
    if weights.shape != shape:
        raise InputError(f"weights have shape {weights.shape}; it must be the target's, {shape}")
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise InputError(
            f"weights have the value {wrong[0]:g}; they must be finite and at least 0 (0 means "
            "unknown)"
        )


def confidence(weights: NDArray[np.float64] | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Confidence of each sample as given, 1 where nothing is.

    Parameters
    ----------
    weights : ndarray, shape (m1, m2), or None
        As given.
    shape : tuple of int
        Of the target.

    Returns
    -------
    ndarray, shape (m1, m2)

    Raises
    ------
    InputError
        See `check_weights`.
    """
    check_weights(weights, shape)
    return np.ones(shape) if weights is None else weights


def weigh(scaled: Scaled, given: NDArray[np.float64], sampling: Sampling) -> tuple[Scaled, Plane]:
    """Leave samples beside the guide out, and bring the confidence of the others to mean 1.

    Parameters
    ----------
    scaled : Scaled
        The target.
    given : ndarray, shape (m1, m2)
        See `confidence`.
    sampling : Sampling
        Says which samples lie on the guide.

    Returns
    -------
    scaled : Scaled
    weights : ndarray, shape (m1, m2), float32
        0 where unknown.

    Raises
    ------
    ApartError
        If no known sample is left.
    """
    known = scaled.known & sampling.inside
    if not known.any():
        raise ApartError("no known sample of the target lies on the guide; check the origin")
    weights = np.where(known, given / given[known].mean(), 0.0).astype(np.float32)
    return replace(scaled, known=known), weights
