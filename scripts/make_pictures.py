"""Make every picture of the documentation from real runs.

    python scripts/make_pictures.py                   # all
    python scripts/make_pictures.py ramp atoms        # some
    xvfb-run -a python scripts/make_pictures.py panel # without a screen

The pictures go to docs/pictures. All are made from the generated scene, except ``upsample`` and
``learning``, which need the Middlebury images (environment variable COSPARSE_DATA, default
../shared/data beside the repository), and ``panel``, which opens napari. Each run prints the
figures that the documentation quotes.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panel_pictures import panel_pictures
from PIL import Image
from train_operators import TRAIN, _filled, scene

from napari_cosparse import (
    Upsampled,
    degrade,
    learn_operators,
    load_operators,
    make_scene,
    upsample,
)
from napari_cosparse.core.reconstruction import bicubic, sampling_operator

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
MOST_BYTES = 300_000
LEVELS, RANGE = (256, 64, 48, 32, 24), range(256)
DPI = 100
DEPTH, ERROR = "viridis", "magma"


def save(figure: Figure, name: str) -> None:
    """Write a figure as a PNG file, the same bytes each time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI, metadata={"Software": None}, facecolor="white")
    write(Image.open(buffer), name)


def write(image: Image.Image, name: str) -> None:
    """Write with as many levels of each colour as the size allows; none is an error."""
    path = PICTURES / f"{name}.png"
    for levels in LEVELS:
        steps = [round(round(value * (levels - 1) / 255) * 255 / (levels - 1)) for value in RANGE]
        image.convert("RGB").point(steps * 3).save(path, optimize=True)
        size = path.stat().st_size
        if size <= MOST_BYTES:
            break
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB, {levels} levels of each colour")
    if size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes, more than {MOST_BYTES}")


def show(axes: Axes, image: np.ndarray, title: str, **options: object) -> object:
    """Show an image without ticks."""
    axes.set_title(title, fontsize=11)
    axes.set_xticks([])
    axes.set_yticks([])
    return axes.imshow(image, interpolation="nearest", **options)


def enlarge(low: np.ndarray, shape: tuple[int, int], factor: int) -> np.ndarray:
    """Interpolate bicubically at the true positions of the samples."""
    return bicubic(low, sampling_operator(shape, low.shape, (factor, factor)))


def rms(error: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(error, dtype=np.float64))))


def panels(
    pictures: list[tuple[np.ndarray, str]],
    errors: list[tuple[np.ndarray, str]],
    *,
    guide: np.ndarray,
    low: tuple[np.ndarray, str],
    limits: tuple[float, float],
    worst: float,
    units: tuple[str, str],
) -> Figure:
    """Draw guide and results above, low resolution and errors below."""
    columns = 1 + len(pictures)
    ratio = guide.shape[0] / guide.shape[1]
    figure = Figure(figsize=(2.9 * columns + 0.9, 5.8 * ratio + 0.65), layout="constrained")
    axes = figure.subplots(2, columns)
    show(axes[0, 0], guide, "guide")
    looks = {"cmap": DEPTH, "vmin": limits[0], "vmax": limits[1]}
    show(axes[1, 0], low[0], low[1], **looks)
    for column, ((image, title), (error, caption)) in enumerate(
        zip(pictures, errors, strict=True), 1
    ):
        top = show(axes[0, column], image, title, **looks)
        bottom = show(axes[1, column], error, caption, cmap=ERROR, vmin=0, vmax=worst)
    figure.colorbar(top, ax=axes[0], label=units[0], pad=0.01)
    figure.colorbar(bottom, ax=axes[1], label=units[1], pad=0.01, extend="max")
    return figure


def draw_upsample() -> None:
    """Compare with bicubic at 8x on a real scene that no parameter was chosen on."""
    factor, rows, columns = 8, slice(48, 288), slice(56, 376)
    image, stored = scene("test", "cones")
    known = stored > 0
    truth = _filled(stored / 4, known)
    low = degrade(truth, factor)
    result = upsample(low, image, factor=factor, noise=0)
    plain = enlarge(low, truth.shape, factor)
    cut, coarse = (rows, columns), tuple(slice(s.start // 8, s.stop // 8) for s in (rows, columns))
    pictures, errors = [], []
    for name, found in (("bicubic", plain), ("napari-cosparse", result.image)):
        error = np.abs(found - truth)
        print(f"upsample: {name}: RMSE {rms(error[known]):.3f} px over all known pixels")
        pictures.append((found[cut], name))
        errors.append(
            (np.where(known, error, np.nan)[cut], f"error, RMSE {rms(error[cut][known[cut]]):.2f}")
        )
    figure = panels(
        pictures,
        errors,
        guide=image[cut],
        low=(low[coarse], "target, 8 times coarser"),
        limits=(float(truth[cut].min()), float(truth[cut].max())),
        worst=4.0,
        units=("disparity in pixels", "error in pixels"),
    )
    save(figure, "upsample")


def draw_scene() -> None:
    """Show what the guide brings, on the generated scene."""
    factor, room = 4, make_scene((288, 384), seed=0)
    low = degrade(room.depth, factor)
    found = {
        "bicubic": enlarge(low, room.depth.shape, factor),
        "without the guide": upsample(low, room.guide, factor=factor, noise=0, guided=False).image,
        "with the guide": upsample(low, room.guide, factor=factor, noise=0).image,
    }
    errors = []
    for name, image in found.items():
        error = np.abs(image - room.depth)
        print(f"scene: {name}: RMSE {1000 * rms(error):.0f} mm")
        errors.append((error, f"error, RMSE {1000 * rms(error):.0f} mm"))
    limits = float(room.depth.min()), float(room.depth.max())
    figure = panels(
        [(image, name) for name, image in found.items()],
        errors,
        guide=room.guide,
        low=(low, "target, 4 times coarser"),
        limits=limits,
        worst=0.3,
        units=("depth in metres", "error in metres"),
    )
    save(figure, "scene")


def draw_noise() -> None:
    """Show exact samples against the estimated noise level, on a noisy target."""
    factor, sigma, room = 4, 0.1, make_scene((192, 256), seed=3)
    low = degrade(room.depth, factor, noise=sigma, seed=1)
    exact = upsample(low, room.guide, factor=factor, noise=0).image
    result = upsample(low, room.guide, factor=factor)
    print(f"noise: {sigma} m added, {result.noise:.3f} m estimated")
    pictures, errors = [], []
    for name, image in (
        ("bicubic", enlarge(low, room.depth.shape, factor)),
        ("noise 0: samples kept exactly", exact),
        (f"noise estimated: {result.noise:.3f} m", result.image),
    ):
        error = np.abs(image - room.depth)
        print(f"noise: {name}: RMSE {1000 * rms(error):.0f} mm")
        pictures.append((image, name))
        errors.append((error, f"error, RMSE {1000 * rms(error):.0f} mm"))
    figure = panels(
        pictures,
        errors,
        guide=room.guide,
        low=(low, f"target with noise of {sigma} m"),
        limits=(float(room.depth.min()), float(room.depth.max())),
        worst=0.3,
        units=("depth in metres", "error in metres"),
    )
    save(figure, "noise")


def draw_ramp() -> None:
    """Show the worst that the prior does to a slope: a ramp under a textured guide."""
    size, factor = 192, 4
    depth = np.tile(np.linspace(0, 1, size, dtype=np.float32), (size, 1))
    texture = np.random.default_rng(0).normal(0, 10, (size, size))
    guides = {"guide without texture": np.zeros((size, size)), "textured guide": texture}
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    row, slope = size // 2, 1 / (size - 1)
    axes[0].plot(depth[row], color="0.6", linewidth=3, label="ramp")
    for (name, guide), style in zip(guides.items(), ("-", "-"), strict=True):
        image = upsample(degrade(depth, factor), guide, factor=factor, noise=0).image
        off = ((image - depth) / slope)[4 * factor : -4 * factor, 4 * factor : -4 * factor]
        print(
            f"ramp: {name}: rms {rms(off):.3f} px, largest {np.abs(off).max():.2f} px, "
            f"mean {off.mean():.4f} px"
        )
        axes[0].plot(image[row], style, linewidth=1.2, label=name)
        axes[1].plot(((image - depth) / slope)[row], style, linewidth=1.2, label=name)
    axes[0].set(xlim=(80, 120), ylim=(80 * slope, 120 * slope))
    axes[0].set(xlabel="column in pixels", ylabel="target in ranges", title="a part of one row")
    axes[1].set(xlabel="column in pixels", ylabel="error / slope in pixels", title="displacement")
    axes[0].legend(frameon=False)
    axes[1].grid(alpha=0.3)
    save(figure, "ramp")


def mosaic(atoms: np.ndarray, across: int) -> np.ndarray:
    """Lay atoms out as square tiles with gaps, each scaled to its largest coefficient."""
    side = int(np.sqrt(atoms.shape[1]))
    tiles = (atoms / np.abs(atoms).max(1, keepdims=True)).reshape(-1, side, side)
    down = -(-len(tiles) // across)
    sheet = np.full((down * (side + 1) + 1, across * (side + 1) + 1), np.nan)
    for index, tile in enumerate(tiles):
        top, left = (1 + (side + 1) * part for part in divmod(index, across))
        sheet[top : top + side, left : left + side] = tile
    return sheet


def draw_atoms() -> None:
    """Show the atoms of the two learned pairs that ship; places correspond."""
    names = ("intensity-depth-3x3", "intensity-depth-5x5")
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    parts = figure.subfigures(2, 1, height_ratios=(0.85, 1))
    for part, name, across in zip(parts, names, (6, 10), strict=True):
        (group,) = load_operators(name).groups
        axes = part.subplots(1, 2)
        part.suptitle(f"{name}: {len(group.coefficients_u)} coupled atoms", fontsize=12)
        for where, atoms, title in zip(
            axes,
            (group.coefficients_u, group.coefficients_v),
            ("U: intensity (guide)", "V: depth (target)"),
            strict=True,
        ):
            drawn = show(where, mosaic(atoms, across), title, cmap="RdBu_r", vmin=-1, vmax=1)
            where.set_facecolor("0.3")
        part.colorbar(
            drawn, ax=axes, label="coefficient / largest", pad=0.01, ticks=(-1, 0, 1), shrink=0.8
        )
    save(figure, "atoms")


def draw_learning() -> None:
    """Show how the learning and the upsampling converge."""
    pairs = [scene("train", name) for name in TRAIN]
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for side in (3, 5):
        learned = learn_operators(pairs, side=side, invalid=(None, 0), iterations=1000)
        costs = learned.history
        print(f"learning: {side}x{side}: cost {costs[0]:.1f} to {costs[-1]:.1f}, {learned.stop}")
        label = f"{side} x {side}, {learned.pair.atoms} atoms"
        left.semilogy((costs[:300] - costs[-1]) / costs[-1], label=label)
    left.set(xlabel="iteration", title="learning: cost relative to that after 1000 iterations")
    left.set(ylabel="cost / last cost - 1")
    left.legend(frameon=False)
    room = make_scene((288, 384), seed=0)
    result = upsample(degrade(room.depth, 4), room.guide, factor=4, noise=0)
    draw_stages(right, result, room.depth.size)
    save(figure, "convergence")


def draw_stages(axes: Axes, result: Upsampled, pixels: int) -> None:
    """Draw the cost of an upsampling run stage by stage; between stages it is another cost."""
    stages, each = 6, 8
    costs = np.array(result.costs) / pixels
    for stage in range(stages):
        place = np.arange(stage * each, (stage + 1) * each)
        left = costs[place[:-1]] - costs[place[-1]]
        axes.semilogy(place[:-1] + 1, left, marker=".", color="C0")
    axes.set(xlabel="iteration", ylabel="cost per pixel above the stage's last")
    axes.set(title="upsampling: 6 stages, each with its own cost")
    print(f"upsampling: {result.iterations} iterations, {result.evaluations} evaluations")


def draw_panels() -> None:
    """Drive the panels in napari and take pictures of the window."""
    for name, picture in panel_pictures():
        write(Image.fromarray(picture), name)


DRAWN: dict[str, Callable[[], None]] = {
    "upsample": draw_upsample,
    "scene": draw_scene,
    "noise": draw_noise,
    "ramp": draw_ramp,
    "atoms": draw_atoms,
    "convergence": draw_learning,
    "panel": draw_panels,
}


def main() -> int:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DRAWN)}")
    names = parser.parse_args().names or list(DRAWN)
    if unknown := sorted(set(names) - set(DRAWN)):
        parser.error(f"{unknown[0]!r} is unknown; choose among {', '.join(DRAWN)}")
    PICTURES.mkdir(exist_ok=True)
    for name in names:
        DRAWN[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
