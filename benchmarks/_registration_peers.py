"""Other programs that register two modalities: elastix, SimpleITK, ANTs and greedy.

Each peer maps two gray images and a group to a matrix, fixed pixel (row, column, 1) -> moving
pixel, starting from the identity (ANTs from its own default, the centres of mass), with one
thread. The programs are in the extra ``registration-peers``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from _registration_images import gray, to_rows
from _registration_motion import Matrix
from numpy.typing import ArrayLike, NDArray

Image = NDArray[Any]
Mask = NDArray[np.bool_] | None
Peer = Callable[[Image, Image, str, Mask, Mask], Matrix]
PACKAGES = ("itk-elastix", "SimpleITK", "antspyx", "picsl-greedy", "numpy")
TUNED = {"MaximumNumberOfIterations": "600", "NumberOfSpatialSamples": "5000"}
LEVELS = 4


def versions() -> dict[str, str]:
    """Return the versions of the programs, without those that are absent."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@contextmanager
def silence() -> Iterator[None]:
    """Discard what native code writes to the terminal."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with Path(os.devnull).open("w") as nowhere:
        try:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            for number, copy in enumerate(kept, start=1):
                os.dup2(copy, number)
                os.close(copy)


def elastix(metric: str, settings: dict[str, str] | None = None) -> Peer:
    """Make elastix with its default parameter map of a group and another metric.

    Parameters
    ----------
    metric : str
        Its name in elastix.
    settings : dict, optional
        What differs from the default.

    Returns
    -------
    callable
    """

    def run(fixed: Image, moving: Image, group: str, mask_fixed: Mask, mask_moving: Mask) -> Matrix:
        import itk

        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(1)
        names = {"SE": "rigid", "similarity": "similarity", "A": "affine"}
        parameters = itk.ParameterObject.New()
        chosen = parameters.GetDefaultParameterMap("affine" if group == "A" else "rigid", LEVELS)
        if names[group] == "similarity":
            chosen["Transform"] = ["SimilarityTransform"]
        chosen["Metric"] = [metric]
        chosen["ErodeMask"] = ["false"]  # or the coarse levels keep too few samples
        for key, value in (settings or {}).items():
            chosen[key] = [value]
        parameters.AddParameterMap(chosen)
        masks = {
            name: itk.image_view_from_array(mask.astype(np.uint8))
            for name, mask in (("fixed_mask", mask_fixed), ("moving_mask", mask_moving))
            if mask is not None
        }
        images = (itk.image_view_from_array(np.ascontiguousarray(gray(i))) for i in (fixed, moving))
        _, result = itk.elastix_registration_method(
            *images, parameter_object=parameters, log_to_console=False, **masks
        )
        found = result.GetParameterMap(0)
        numbers = [float(text) for text in found["TransformParameters"]]
        centre = [float(text) for text in found["CenterOfRotationPoint"]]
        return to_rows(_about(centre, *_parts(numbers)))

    return run


def _parts(numbers: list[float]) -> tuple[NDArray[np.float64], list[float]]:
    """Linear part and shift of elastix's Euler, similarity or affine parameters."""
    if len(numbers) == 6:
        return np.reshape(numbers[:4], (2, 2)), numbers[4:]
    scale = numbers[0] if len(numbers) == 4 else 1.0
    angle, *shift = numbers[-3:]
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return scale * np.array(turn), shift


def _about(centre: ArrayLike, linear: ArrayLike, shift: ArrayLike) -> Matrix:
    """Matrix of ``linear (x - centre) + centre + shift``."""
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = np.asarray(centre) - matrix[:2, :2] @ np.asarray(centre) + np.asarray(shift)
    return matrix


def simpleitk(
    fixed: Image, moving: Image, group: str, mask_fixed: Mask, mask_moving: Mask
) -> Matrix:
    """Mattes' mutual information, regular steps, four levels.

    Parameters
    ----------
    fixed, moving : ndarray, shape (H, W[, 3])
        The images.
    group : {"SE", "similarity", "A"}
        What to search.
    mask_fixed, mask_moving : ndarray of bool or None
        True = use.

    Returns
    -------
    ndarray, shape (3, 3), float64
    """
    import SimpleITK

    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    method = SimpleITK.ImageRegistrationMethod()
    method.SetMetricAsMattesMutualInformation(50)
    method.SetMetricSamplingStrategy(method.RANDOM)
    method.SetMetricSamplingPercentage(0.2, 1)
    if mask_fixed is not None:
        method.SetMetricFixedMask(SimpleITK.GetImageFromArray(mask_fixed.astype(np.uint8)))
    if mask_moving is not None:
        method.SetMetricMovingMask(SimpleITK.GetImageFromArray(mask_moving.astype(np.uint8)))
    method.SetInterpolator(SimpleITK.sitkLinear)
    method.SetOptimizerAsRegularStepGradientDescent(2.0, 1e-4, 300)
    method.SetOptimizerScalesFromPhysicalShift()
    method.SetShrinkFactorsPerLevel([8, 4, 2, 1])
    method.SetSmoothingSigmasPerLevel([4, 2, 1, 0])
    kinds = {"SE": SimpleITK.Euler2DTransform, "similarity": SimpleITK.Similarity2DTransform}
    start = kinds[group]() if group in kinds else SimpleITK.AffineTransform(2)
    start.SetCenter([(size - 1) / 2 for size in fixed.shape[1::-1]])
    method.SetInitialTransform(start, inPlace=True)
    method.Execute(*(SimpleITK.GetImageFromArray(gray(image)) for image in (fixed, moving)))
    linear = np.reshape(start.GetMatrix(), (2, 2))
    return to_rows(_about(start.GetCenter(), linear, start.GetTranslation()))


def ants(fixed: Image, moving: Image, group: str, mask_fixed: Mask, mask_moving: Mask) -> Matrix:
    """ANTs' linear registration with mutual information; parameters as for `simpleitk`."""
    import ants as ants_package

    images = [ants_package.from_numpy(gray(image)) for image in (fixed, moving)]
    masks = [
        None if mask is None else ants_package.from_numpy(mask.astype(np.float32))
        for mask in (mask_fixed, mask_moving)
    ]
    names = {"SE": "Rigid", "similarity": "Similarity", "A": "Affine"}
    found = ants_package.registration(
        *images,
        type_of_transform=names[group],
        mask=masks[0],
        moving_mask=masks[1],
        random_seed=1,
        singleprecision=False,
    )
    transform = ants_package.read_transform(found["fwdtransforms"][0])
    for name in {*found["fwdtransforms"], *found["invtransforms"]}:
        Path(name).unlink(missing_ok=True)
    numbers = transform.parameters
    # from_numpy keeps the order of the axes: these are rows and columns already
    return _about(transform.fixed_parameters, np.reshape(numbers[:4], (2, 2)), numbers[4:])


def greedy(metric: str) -> Peer:
    """Make greedy's linear registration with a metric.

    Parameters
    ----------
    metric : str
        As on its command line, "NMI" or "NCC 4x4".

    Returns
    -------
    callable
    """

    def run(fixed: Image, moving: Image, group: str, mask_fixed: Mask, mask_moving: Mask) -> Matrix:
        import SimpleITK
        from picsl_greedy import Greedy2D

        given = {"fixed": gray(fixed), "moving": gray(moving)}
        options = ""
        if mask_fixed is not None:
            given["seen"], options = mask_fixed.astype(np.float32), " -gm seen"
        if mask_moving is not None:
            given["mseen"], options = mask_moving.astype(np.float32), f"{options} -mm mseen"
        freedom = {"SE": 6, "similarity": 7, "A": 12}[group]
        program = Greedy2D()
        with silence():
            program.execute(
                f"-i fixed moving -a -dof {freedom} -ia-identity -m {metric} -n 100x100x50x20 "
                f"-threads 1 -V 0 -o found{options}",
                found=None,
                **{name: SimpleITK.GetImageFromArray(image) for name, image in given.items()},
            )
        flip = np.diag([-1.0, -1.0, 1.0])  # from RAS, where greedy writes matrices
        return to_rows(flip @ np.asarray(program["found"], float) @ flip)

    return run


PEERS: dict[str, Peer] = {
    "elastix MI": elastix("AdvancedMattesMutualInformation"),
    "elastix NMI": elastix("NormalizedMutualInformation"),
    "elastix MI tuned": elastix("AdvancedMattesMutualInformation", TUNED),
    "elastix NMI tuned": elastix("NormalizedMutualInformation", TUNED),
    "SimpleITK Mattes": simpleitk,
    "ANTs MI": ants,
    "greedy NMI": greedy("NMI"),
    "greedy NCC": greedy("NCC 4x4"),
}
"""By the name that is printed; "tuned": 600 iterations, 5000 samples."""
