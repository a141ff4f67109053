"""The settings of the registration panel."""

from typing import Any

from napari.layers import Image, Labels, Points, Shapes

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import LARGEST_SCALE, SCALED
from napari_cosparse.layers import levels_of

from ._form import Form
from ._numbers import parse_number
from ._operators_rows import OPERATOR_TIPS, OperatorRows
from ._rows import choice_row, flag_row, layer_row, text_row, whole_row
from ._tips import parameter_tips

GROUP_NAMES = {
    "rotation and shift (SE)": "SE",
    "rotation (SO)": "SO",
    "rotation, shift, one scale": "similarity",
    "area-preserving (SA)": "SA",
    "affine (A)": "A",
}
MEASURES = {
    "automatic": "auto",
    "co-sparsity and mutual information": "both",
    "mutual co-sparsity": "mutual",
    "mutual information": "nmi",
    "coupled co-sparsity (paper)": "coupled",
}
SOLVERS = ["gauss-newton", "gradient"]
STARTS = {
    "search everywhere": "search",
    "where the layers lie": "place",
    "two layers of points": "points",
}
NOT_OF_A_RUN = {"fixed", "moving", "resample", "insist"}
MOST = 16384  # pixels: finer levels would be summed for minutes, for hundredths of a pixel
LEVEL_TIP = (
    "<p>Pyramid level of the {} layer whose pixels are matched; 0 is the finest. Of large levels "
    "only parts are read at full resolution; the rest comes from coarser levels.</p>"
)
TIPS = {
    "start": "<p>Where the search begins. Search everywhere: all shifts and the rotations up to "
    "the largest one, the present placement among them. Where the layers lie: the present "
    "placement alone, also if you have dragged the layer. Two layers of points: corresponding "
    "points, set in the same order.</p>",
    "points_fixed": "<p>Points on the fixed image.</p>",
    "points_moving": "<p>Points on the moving image, in the same order.</p>",
    "fixed_level": LEVEL_TIP.format("fixed"),
    "moving_level": LEVEL_TIP.format("moving"),
    "resample": "<p>Also make a layer whose pixels are those of the fixed layer.</p>",
    "insist": "<p>Move the layer even if the result is not to be trusted.</p>",
}


class RegisterForm(Form):
    """One row for each setting; every name is the name of the parameter of `register`.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Whose layers are offered.
    default : str
        Name of the operators that are chosen at first.
    """

    def __init__(self, viewer: Any, default: str) -> None:  # noqa: ANN401 the viewer or its proxy
        """Make the rows with their defaults."""
        super().__init__()
        self.pair = OperatorRows(viewer, default)
        drawn = (Labels, Shapes)
        self.fixed = layer_row("fixed", "Fixed", viewer, (Image,))
        self.moving = layer_row("moving", "Moving", viewer, (Image,))
        self.fixed_level = whole_row("fixed_level", "Fixed level", 0, 0, 99)
        self.moving_level = whole_row("moving_level", "Moving level", 0, 0, 99)
        self.group = choice_row("group", "Motion", GROUP_NAMES)
        self.measure = choice_row("measure", "Measure", MEASURES)
        self.start = choice_row("start", "Start", STARTS)
        self.points_fixed = layer_row("points_fixed", "Fixed points", viewer, (Points,))
        self.points_moving = layer_row("points_moving", "Moving points", viewer, (Points,))
        self.resample = flag_row("resample", "Resample onto the fixed layer", value=False)
        self.insist = flag_row("insist", "Move even if not trusted", value=False)
        self.mask_fixed = layer_row("mask_fixed", "Fixed mask", viewer, drawn, "none")
        self.mask_moving = layer_row("mask_moving", "Moving mask", viewer, drawn, "none")
        self.invalid_fixed = text_row("invalid_fixed", "Unknown, fixed", "none")
        self.invalid_moving = text_row("invalid_moving", "Unknown, moving", "none")
        self.max_rotation = text_row("max_rotation", "Largest rotation", "automatic")
        self.max_scale = text_row("max_scale", "Largest scale", "automatic")
        self.solver = choice_row("solver", "Solver", SOLVERS)
        self.verdict = flag_row("verdict", "Judge the result", value=True)
        self.allow_reflection = flag_row("allow_reflection", "Allow a mirror image", value=False)
        self.seed = whole_row("seed", "Seed", 0, 0)
        self._levels_for: tuple[Image | None, Image | None] = (None, None)
        self.fill(
            (
                *(self.fixed, self.fixed_level, self.moving, self.moving_level),
                *(self.group, self.measure, self.start, self.points_fixed, self.points_moving),
                *(self.mask_fixed, self.mask_moving, self.resample),
            ),
            (
                *(self.pair.choice, self.pair.file, self.max_rotation, self.max_scale),
                *(self.invalid_fixed, self.invalid_moving, self.solver, self.verdict),
                *(self.allow_reflection, self.insist, self.seed),
            ),
            {**_tips(), **TIPS, **OPERATOR_TIPS},
        )

    def of_a_run(self) -> dict[str, Any]:
        """Read the rows that a run depends on, beside its layers, as `state` does.

        Returns
        -------
        dict
            JSON values.
        """
        return {name: value for name, value in self.state().items() if name not in NOT_OF_A_RUN}

    def reset_choices(self) -> None:
        """Offer the layers that are open now; the two rows of points begin with two layers."""
        super().reset_choices()
        one, other = self.points_fixed, self.points_moving
        rest = [layer for layer in other.choices if layer is not one.value]
        if rest and other.value is one.value:
            other.value = rest[0]

    def swap_sides(self) -> None:
        """Give each layer the points, mask and unknown value that belong to it in its new role."""
        for one, other in (
            (self.points_fixed, self.points_moving),
            (self.mask_fixed, self.mask_moving),
            (self.invalid_fixed, self.invalid_moving),
        ):
            first, second = one.value, other.value
            if first != second:
                one.value, other.value = second, first

    @property
    def levels(self) -> tuple[int, int]:
        """Pyramid levels of the fixed and the moving layer."""
        return int(self.fixed_level.value), int(self.moving_level.value)

    def keywords(self) -> dict[str, Any]:
        """Read the rows that are plain keywords of `register`.

        Returns
        -------
        dict
            Without layers, start and masks.

        Raises
        ------
        InputError
            A number cannot be read or breaks a rule.
        """
        rotation = parse_number("largest rotation", self.max_rotation.value)
        if rotation is not None and not 0 <= rotation <= 180:
            raise InputError(f"largest rotation {rotation:g} must be between 0 and 180 degrees")
        return {
            "group": self.group.value,
            "measure": self.measure.value,
            "solver": self.solver.value,
            "invalid": (
                parse_number("unknown value, fixed", self.invalid_fixed.value),
                parse_number("unknown value, moving", self.invalid_moving.value),
            ),
            "max_rotation": rotation,
            "max_scale": self._largest_scale(),
            "verdict": bool(self.verdict.value),
            "allow_reflection": bool(self.allow_reflection.value),
            "seed": int(self.seed.value),
        }

    def _largest_scale(self) -> float | None:
        """Read it; a motion without a scale has none, which the core says in its own words."""
        scale = parse_number("largest scale", self.max_scale.value)
        if scale is not None and not 1 <= scale <= LARGEST_SCALE:
            raise InputError(f"largest scale {scale:g} must be between 1 and {LARGEST_SCALE:g}")
        if scale is not None and scale > 1 and self.group.value not in SCALED:
            names = {group: name for name, group in GROUP_NAMES.items()}
            others = " or ".join(f"{names[group]!r}" for group in SCALED)
            raise InputError(
                f"largest scale {scale:g}: {names[self.group.value]!r} has no scale; "
                f"choose {others} as Motion, or leave it empty"
            )
        return scale

    def fit(self) -> None:
        """Show the rows that matter for what is chosen."""
        self.show_row("operator_file", shown=self.pair.from_file)
        for name in ("points_fixed", "points_moving"):
            self.show_row(name, shown=self.start.value == "points")
        layers = self.fixed.value, self.moving.value
        if layers != self._levels_for:
            self._levels_for = layers
            for name, layer in zip(("fixed_level", "moving_level"), layers, strict=True):
                self.row(name).value = 0 if layer is None else _finest(layer)
                self.show_row(name, shown=layer is not None and layer.multiscale)


def _finest(layer: Image) -> int:
    """Choose the finest level that can be read in a while."""
    shapes = levels_of(layer)
    small = [level for level, shape in enumerate(shapes) if max(shape) <= MOST]
    return small[0] if small else len(shapes) - 1


def _tips() -> dict[str, str]:
    """Take tool-tips from the docstring of `register`."""
    tips = parameter_tips(api.register)
    for name in ("fixed", "moving"):
        tips[f"invalid_{name}"] = tips["invalid"]
    return tips
