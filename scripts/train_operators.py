"""Train the operator pairs that ship in the wheel, from Middlebury and RGB-NIR training scenes.

    python scripts/train_operators.py                 # trains all and compares with the shipped
    python scripts/train_operators.py --write         # replaces the shipped files
    python scripts/train_operators.py --select 12     # chooses the 3x3 seed on validation images

The images are read from the folder in the environment variable COSPARSE_DATA (default
../shared/data beside the repository). No parameter is chosen on the test images.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import imageio.v3 as imageio
import numpy as np

from napari_cosparse import OperatorPair, degrade, learn_operators, load_operators, upsample
from napari_cosparse.core.operators import (
    bank,
    first_differences,
    join,
    random_frame,
    second_differences,
)
from napari_cosparse.io import encode, save_operators

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src/napari_cosparse/io/shipped"
DATA = Path(os.environ.get("COSPARSE_DATA", ROOT / "../shared/data"))
TRAIN = ("baby1", "bowling1", "moebius", "reindeer", "sawtooth")
VALIDATION = ("dolls", "laundry", "books", "aloe", "cloth1", "wood1")
SEEDS = {3: 5, 5: 0}  # side: seed; 3x3 chosen by --select, 5x5 not chosen
CROP = (slice(60, 316), slice(60, 380))
FACTORS = (2, 4, 8)
MODALITIES = ["intensity", "depth"]
NIR_MODALITIES = ["intensity", "near infrared"]
NIR_TRAIN = tuple(f"{index:04d}" for index in range(7))  # 0007 to 0009 are for tests


def scene(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Image and disparity (0 = unknown) of a scene, as stored."""
    place = DATA / "middlebury" / folder / name
    image, disparity = (next(place.glob(f"{part}.p*")) for part in ("image", "disparity"))
    return imageio.imread(image), imageio.imread(disparity)


def nir_scene(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Colour and near-infrared image of a scene, as stored."""
    place = DATA / "rgb_nir/registered"
    colour, infrared = (imageio.imread(place / f"{name}_{part}.jpg") for part in ("rgb", "nir"))
    return colour, infrared


def train(side: int, seed: int, *, symmetries: bool = False) -> OperatorPair:
    """Learn a pair with the paper's settings; unknown disparities are never used."""
    pairs = [scene("train", name) for name in TRAIN]
    learned = learn_operators(pairs, side=side, seed=seed, invalid=(None, 0), symmetries=symmetries)
    return _described(learned.pair, MODALITIES, [f"Middlebury {n}" for n in TRAIN])


def train_nir() -> OperatorPair:
    """Learn the 5x5 pair of intensity and near infrared with the paper's settings."""
    learned = learn_operators(
        [nir_scene(name) for name in NIR_TRAIN],
        nu=200.0,
        kappa=(250.0, 1000.0),
        mu=(250.0, 1000.0),
        symmetries=True,
    )
    return _described(learned.pair, NIR_MODALITIES, [f"RGB-NIR {n}" for n in NIR_TRAIN])


def _described(pair: OperatorPair, modalities: list[str], images: list[str]) -> OperatorPair:
    """Add the provenance to a learned pair."""
    provenance = {"modalities": modalities, "training_images": images}
    return OperatorPair(pair.groups, provenance | dict(pair.metadata))


def as_bank(pair: OperatorPair) -> OperatorPair:
    """Join the learned 3x3 atoms and their turned copies with differences at a distance."""
    whole = bank(pair)
    about = {"modalities": MODALITIES, "training_images": pair.metadata["training_images"]}
    return OperatorPair(whole.groups, about | dict(whole.metadata))


def shipped() -> dict[str, OperatorPair]:
    """Make all pairs that ship, by name."""
    small = train(3, SEEDS[3])
    frame = random_frame(3, 18, seed=0)
    near_and_far = join(
        *first_differences((1, 2, 4, 8), 4.0),
        second_differences(4),
        metadata={"kind": "differences", "first_differences": [1, 2, 4, 8]}
        | {"second_differences": [4], "modalities": MODALITIES},
    )
    return {
        "intensity-depth": as_bank(small),
        "intensity-depth-3x3": small,
        "intensity-depth-5x5": train(5, SEEDS[5]),
        "intensity-depth-registration": train(5, SEEDS[5], symmetries=True),
        "intensity-nir": train_nir(),
        "differences": near_and_far,
        "random-frame": OperatorPair(
            frame.groups, {"modalities": MODALITIES} | dict(frame.metadata)
        ),
    }


def validation_error(pair: OperatorPair, factor: int) -> tuple[float, float]:
    """Geometric means over the validation crops: RMSE, bad pixels in % (> 1 disparity pixel)."""
    errors = []
    for name in VALIDATION:
        image, stored = scene("validation", name)
        known = (stored > 0)[CROP]
        truth = stored.astype(np.float64)[CROP] / 3
        low = degrade(_filled(truth, known), factor, phase="corner", blur="gaussian")
        result = upsample(low, image[CROP], pair, phase="corner", blur="gaussian", noise=0)
        error = np.abs(result.image - truth)[known]
        errors.append((np.sqrt((error**2).mean()), 100 * (error > 1).mean()))
    rmse, bad = np.exp(np.log(errors).mean(0))
    return float(rmse), float(bad)


def _filled(truth: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Fill unknown disparities with the nearest known one."""
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
    return truth[tuple(nearest)]


def select(candidates: int) -> None:
    """Print the validation errors of the bank for each seed; the smallest geometric mean wins."""
    for seed in range(candidates):
        pair = as_bank(train(3, seed))
        scores = [validation_error(pair, factor) for factor in FACTORS]
        mean = float(np.exp(np.log([rmse for rmse, _ in scores]).mean()))
        cells = "  ".join(
            f"x{f} {r:.4f} {b:.3f}" for f, (r, b) in zip(FACTORS, scores, strict=True)
        )
        print(f"seed {seed:2d}  {cells}  mean RMSE {mean:.4f}", flush=True)


def main() -> int:
    """Train, then write or compare; 1 if a shipped file differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace the shipped files")
    parser.add_argument("--select", type=int, metavar="N", help="compare N seeds and stop")
    options = parser.parse_args()
    if options.select:
        select(options.select)
        return 0
    different = 0
    for name, pair in shipped().items():
        if options.write:
            print(save_operators(SHIPPED / f"{name}.npz", pair).name)
            continue
        same = encode(pair) == encode(load_operators(name))
        different += not same
        print(f"{name:28s} {'same bytes' if same else 'DIFFERS from the shipped file'}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
