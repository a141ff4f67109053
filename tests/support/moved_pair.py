"""A picture and a folded copy of it, moved by a known motion: for the tests of registration."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.ndimage import affine_transform

from napari_cosparse import load_operators, make_scene
from napari_cosparse.core.registration import register

SHAPE = 112, 160
ROOM = 112  # pixels around the scene, so that a moved view needs no fill
PAIR = load_operators("intensity-depth-3x3")  # the fastest


@cache
def picture(shape=SHAPE, seed=3):
    """Grey picture of a scene with room around, 0 to 255."""
    made = make_scene(tuple(size + ROOM for size in shape), seed)
    return made.guide.astype(float).mean(-1)


def folded(grey):
    """Another modality: dark and bright look alike, so that no grey level keeps its order."""
    return np.abs(grey - 120.0)


def motion(angle=0.0, shift=(0.0, 0.0), linear=None, shape=SHAPE):
    """Matrix fixed pixel -> moving pixel: turned about the centre, then shifted."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    turn = np.array([[c, -s], [s, c]]) @ (np.eye(2) if linear is None else np.asarray(linear))
    centre = (np.array(shape, float) - 1) / 2
    matrix = np.eye(3)
    matrix[:2, :2] = turn
    matrix[:2, 2] = centre + shift - turn @ centre
    return matrix


def view(image, matrix=None, shape=SHAPE):
    """What a camera sees of a scene after a motion; the identity sees the middle."""
    back = np.eye(3) if matrix is None else np.linalg.inv(matrix)
    offset = back[:2, 2] + ROOM / 2
    return affine_transform(image, back[:2, :2], offset, shape, order=3, mode="mirror")


def moved_pair(matrix=None, shape=SHAPE, seed=3):
    """Fixed picture and the folded picture after a motion."""
    grey = picture(shape, seed)
    return view(grey, None, shape), folded(view(grey, matrix, shape))


def error(found, truth, shape=SHAPE):
    """Mean distance of the fixed image's corners, in moving pixels."""
    rows, columns = shape[0] - 1, shape[1] - 1
    corners = np.array([[0, 0, rows, rows], [0, columns, 0, columns], [1, 1, 1, 1]], float)
    return float(np.hypot(*((found - truth) @ corners)[:2]).mean())


def run(fixed, moving, **keywords):
    """Register without backward runs, and with few rotations, unless asked for."""
    quick = {} if keywords.get("verdict") else {"verdict": False, "max_rotation": 10}
    return register(fixed, moving, PAIR, **{**quick, **keywords})
