"""Files: operator pairs, transforms, images for the command line, sample data."""

from ._atomic import check_destination, write_bytes, write_together
from ._operators import encode, load_operators, operator_path, save_operators, shipped_operators
from ._plain import plain, to_json
from ._read_image import read_image
from ._samples import Scene, StereoView, make_scene, motorcycle
from ._transform_file import encode_transform, load_transform, save_transform, transform_path
from ._transform_record import Transform, as_transform
from ._write_image import FLOAT_ENDINGS, check_image_path, write_image, write_pixels
from ._zarr import ZarrImage, in_zarr, is_zarr, open_zarr

__all__ = [
    "FLOAT_ENDINGS",
    "Scene",
    "StereoView",
    "Transform",
    "ZarrImage",
    "as_transform",
    "check_destination",
    "check_image_path",
    "encode",
    "encode_transform",
    "in_zarr",
    "is_zarr",
    "load_operators",
    "load_transform",
    "make_scene",
    "motorcycle",
    "open_zarr",
    "operator_path",
    "plain",
    "read_image",
    "save_operators",
    "save_transform",
    "shipped_operators",
    "to_json",
    "transform_path",
    "write_bytes",
    "write_image",
    "write_pixels",
    "write_together",
]
