"""The settings of the upsampling panel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from napari.layers import Image

from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import Placing

from ._form import Form
from ._numbers import (
    Numbers,
    matrix_text,
    parse_matrix,
    parse_number,
    parse_numbers,
)
from ._operators_rows import OPERATOR_TIPS, OperatorRows
from ._rows import choice_row, flag_row, layer_row, path_row, text_row, whole_row
from ._store_check import REPLACE, unfinished
from ._tips import parameter_tips

STRAIGHT = ("factor", "origin", "phase")  # rows that have no say if there is a transform
POSITIONS = {"from the layers": True, "same field of view": False}
OUTPUTS = {"automatic": "auto", "memory": "memory", "Zarr store": "store"}
TIPS = {
    "transform": "<p>Six numbers, row by row, that map guide pixel (row, column) to target pixel, "
    "as the registration has it, instead of factor, origin and first sample. Empty: from the "
    "layers, where the target is turned, sheared or mirrored against the guide.</p>",
    "output": "<p>Where the result goes. Automatic: into memory, or into a Zarr store if the run "
    "needs more memory than the preferences allow.</p>",
    "store": "<p>Folder to write the result to, block by block within the memory of the "
    "preferences; a name that ends in .ome.zarr gives a pyramid.</p>",
    "overwrite": "<p>Replace the store of that name once the new result is complete, and delete "
    "what an interrupted run of another job left beside it. Layers that show the old one go.</p>",
    "positions": "<p>Where the target lies on the guide. From the layers: from scale, translate, "
    "rotate, shear, affine and units of both. Same field of view: the shapes alone count.</p>",
    "target_level": "<p>Pyramid level of the target that is read; 0 is the finest.</p>",
    "guide_level": "<p>Pyramid level of the guide that is read and gives the result's grid; "
    "0 is the finest.</p>",
}


class UpsampleForm(Form):
    """One row for each setting; every name is the name of the parameter of `upsample`.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Whose layers are offered.
    described_by : callable
        The function whose docstring gives the tool-tips.
    default : str
        Name of the operators that are chosen at first.
    """

    def __init__(
        self,
        viewer: Any,  # noqa: ANN401 the viewer or its proxy
        described_by: Callable[..., Any],
        default: str,
    ) -> None:
        """Make the rows with their defaults."""
        super().__init__()
        self.output = choice_row("output", "Result in", OUTPUTS)
        self.store = path_row("store", "Store", "choose a folder ...")
        self.overwrite = flag_row("overwrite", REPLACE, value=False)
        self._proposed = ""
        self.pair = OperatorRows(viewer, default)
        self.target = layer_row("target", "Target", viewer, (Image,))
        self.guide = layer_row("guide", "Guide", viewer, (Image,))
        self.target_level = whole_row("target_level", "Target level", 0, 0, 99)
        self.guide_level = whole_row("guide_level", "Guide level", 0, 0, 99)
        self.positions = choice_row("positions", "Position", POSITIONS)
        self.factor = text_row("factor", "Factor", "from the layers")
        self.origin = text_row("origin", "Origin", "from the layers")
        self.transform = text_row("transform", "Transform", "from the layers")
        self.phase = choice_row("phase", "First sample", ["centre", "corner"])
        self.blur = choice_row("blur", "Blur", ["box", "gaussian", "bicubic", "none"])
        self.noise = text_row("noise", "Noise", "estimated")
        self.invalid = text_row("invalid", "Unknown value", "none")
        self.guided = flag_row("guided", "Use the guide", value=True)
        results = {"float32": "float32", "like the target": "input"}
        self.dtype = choice_row("dtype", "Values", results)
        self.fill(
            (
                *(self.target, self.target_level, self.guide, self.guide_level),
                *(self.pair.choice, self.pair.file, self.noise, self.invalid, self.guided),
                *(self.output, self.store, self.overwrite),
            ),
            (
                *(self.positions, self.factor, self.origin, self.phase, self.transform),
                *(self.blur, self.dtype),
            ),
            {**parameter_tips(described_by), **TIPS, **OPERATOR_TIPS},
        )
        self._tips = {name: self.row(name).tooltip for name in STRAIGHT}

    @property
    def levels(self) -> tuple[int, int]:
        """Pyramid levels of target and guide."""
        return int(self.target_level.value), int(self.guide_level.value)

    def settings(self) -> Settings:
        """Read the rows that are settings of the core.

        Returns
        -------
        Settings
            Checked; factor and origin are as typed, or None.

        Raises
        ------
        InputError
            A number cannot be read or breaks a rule.
        """
        return Settings(
            factor=parse_numbers("factor", self.factor.value),
            origin=_two(parse_numbers("origin", self.origin.value)),
            transform=parse_matrix("transform", self.transform.value),
            phase=self.phase.value,
            blur=self.blur.value,
            noise=parse_number("noise", self.noise.value),
            invalid=parse_number("unknown value", self.invalid.value),
            guided=self.guided.value,
            dtype=self.dtype.value,
        )

    def show_placing(self, placing: Placing | None, settings: Settings, because: str) -> None:
        """Show what empty rows mean; disable those that have no say, with the reason.

        Parameters
        ----------
        placing : Placing or None
            How the layers lie.
        settings : Settings
            What is used.
        because : str
            Why a transform is used; only read if it is.
        """
        turned = settings.transform is not None
        numbers = ["from the sizes", "from the first sample", ""]
        if placing is not None:
            numbers[:2] = [f"{a:.6g}, {b:.6g}" for a, b in (placing.factor, placing.origin)]
        for name, number in zip(STRAIGHT, numbers, strict=True):
            row = self.row(name)
            row.enabled = not turned and (name != "phase" or settings.origin is None)
            row.tooltip = f"<p>{because}: see Transform.</p>" if turned else self._tips[name]
            if number:
                row.native.setPlaceholderText(number)
        given = None if placing is None else placing.transform
        told = "not needed" if given is None else matrix_text(given, 4)
        self.transform.native.setPlaceholderText(told)

    def show_output(self, *, store: bool, propose: Callable[[], str]) -> str:
        """Show where the result goes, with a path that nobody has typed where one is needed.

        Parameters
        ----------
        store : bool
            Whether it goes to a Zarr store.
        propose : callable
            Gives a path that is not taken.

        Returns
        -------
        str
            The path; empty for a result in memory.
        """
        self.show_row("store", shown=store)
        if store and self.store.value in ("", self._proposed):
            self._proposed = propose()
            with self.store.changed.blocked():
                self.store.value = self._proposed
        path = str(self.store.value).strip() if store else ""
        self.show_row("overwrite", shown=bool(path) and (Path(path).exists() or unfinished(path)))
        return path

    def hide_output(self) -> None:
        """Hide where a result goes as long as nothing can be said; a wish stays to be seen."""
        self.show_row("store", shown=self.output.value == "store")
        self.show_row("overwrite", shown=False)

    def fit(self) -> None:
        """Show the rows that matter for what is chosen."""
        self.show_row("operator_file", shown=self.pair.from_file)
        for name in ("target", "guide"):
            layer = self.row(name).value
            many = layer is not None and layer.multiscale
            self.show_row(f"{name}_level", shown=many)
            if not many:
                self.row(f"{name}_level").value = 0


def _two(value: Numbers | None) -> tuple[float, float] | None:
    """Take one number for both axes."""
    if value is None or isinstance(value, tuple):
        return value
    return value, value
