"""Search spaces: flat space and the product of zero-mean unit spheres."""

from ._flat import Flat
from ._spheres import ZeroMeanSpheres

__all__ = ["Flat", "ZeroMeanSpheres"]
