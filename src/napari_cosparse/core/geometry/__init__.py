"""Search spaces: flat space, the product of zero-mean unit spheres, groups of motions."""

from ._exponential import rotation_along
from ._flat import Flat
from ._groups import MatrixGroup, matrix_group
from ._matrix import as_motion
from ._motion import Motion, motion_of
from ._spheres import ZeroMeanSpheres

__all__ = [
    "Flat",
    "MatrixGroup",
    "Motion",
    "ZeroMeanSpheres",
    "as_motion",
    "matrix_group",
    "motion_of",
    "rotation_along",
]
