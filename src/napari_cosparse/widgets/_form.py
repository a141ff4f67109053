"""The settings of the upsampling panel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from magicgui.widgets import CheckBox, ComboBox, FileEdit, LineEdit, create_widget
from napari.layers import Image
from qtpy.QtWidgets import QComboBox, QFormLayout, QLabel, QWidget

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.io import shipped_operators

from ._tips import parameter_tips

DEFAULT_OPERATORS = "intensity-depth"
FROM_FILE = "from a file ..."
POSITIONS = {"from the layers": True, "same field of view": False}
TIPS = {
    "positions": "<p>Where the target lies on the guide. From the layers: from scale, translate, "
    "rotate, shear, affine and units of both. Same field of view: the shapes alone count.</p>",
    "operator_file": "<p>Operator pair that was learned and saved before (.npz).</p>",
}


class UpsampleForm(QWidget):
    """One row for each setting; every name is the name of the parameter of `upsample`.

    Parameters
    ----------
    described_by : callable
        The function whose docstring gives the tool-tips.
    """

    def __init__(self, described_by: Callable[..., Any]) -> None:
        """Make the rows with their defaults."""
        super().__init__()
        self.target = _layer("target", "Target")
        self.guide = _layer("guide", "Guide")
        self.positions = _choice("positions", "Position", POSITIONS)
        self.operators = _choice("operators", "Operators", [*shipped_operators(), FROM_FILE])
        self.operator_file = FileEdit(name="operator_file", label="File", filter="*.npz")
        self.phase = _choice("phase", "First sample", ["centre", "corner"])
        self.blur = _choice("blur", "Blur", ["box", "gaussian", "bicubic", "none"])
        self.noise = _number("noise", "Noise", "estimated")
        self.invalid = _number("invalid", "Unknown value", "none")
        self.guided = CheckBox(name="guided", text="Use the guide", value=True)
        self.dtype = _choice("dtype", "Result", {"float32": "float32", "like the target": "input"})
        self.rows: tuple[Any, ...] = (
            *(self.target, self.guide, self.positions, self.operators, self.operator_file),
            *(self.phase, self.blur, self.noise, self.invalid, self.guided, self.dtype),
        )
        if DEFAULT_OPERATORS in self.operators.choices:
            self.operators.value = DEFAULT_OPERATORS
        self._labels: dict[str, QLabel] = {}
        self._lay_out({**parameter_tips(described_by), **TIPS})
        self.operators.changed.connect(self._show_file_row)
        self._show_file_row()

    def _lay_out(self, tips: dict[str, str]) -> None:
        layout = QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for row in self.rows:
            row.tooltip = tips[row.name]
            label = QLabel("" if row is self.guided else row.label)  # a box has its own text
            label.setToolTip(row.tooltip)
            self._labels[row.name] = label
            layout.addRow(label, row.native)

    def reset_choices(self) -> None:
        """Offer the layers that are open now."""
        self.target.reset_choices()
        self.guide.reset_choices()

    def settings(self) -> Settings:
        """Read the rows that are settings of the core.

        Returns
        -------
        Settings
            Checked; factor and origin are left open.

        Raises
        ------
        InputError
            A number cannot be read or breaks a rule.
        """
        return Settings(
            phase=self.phase.value,
            blur=self.blur.value,
            noise=_parse("noise", self.noise.value),
            invalid=_parse("unknown value", self.invalid.value),
            guided=self.guided.value,
            dtype=self.dtype.value,
        )

    def operators_source(self) -> str | Path:
        """Read which operators are chosen.

        Returns
        -------
        str or Path
            Name of a shipped pair, or a file.
        """
        if self.operators.value == FROM_FILE:
            return Path(str(self.operator_file.value))
        return str(self.operators.value)

    def _show_file_row(self) -> None:
        shown = self.operators.value == FROM_FILE
        self.operator_file.native.setVisible(shown)
        self._labels["operator_file"].setVisible(shown)


def _layer(name: str, label: str) -> ComboBox:
    """Row that offers the viewer's image layers; napari keeps the list."""
    return _narrow(cast("ComboBox", create_widget(name=name, label=label, annotation=Image)))


def _choice(name: str, label: str, choices: list[str] | dict[str, Any]) -> ComboBox:
    items = list(choices.items()) if isinstance(choices, dict) else choices
    return _narrow(ComboBox(name=name, label=label, choices=items))


def _narrow(row: ComboBox) -> ComboBox:
    """Keep long names from widening the panel."""
    row.native.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    row.native.setMinimumContentsLength(12)
    return row


def _number(name: str, label: str, when_empty: str) -> LineEdit:
    row = LineEdit(name=name, label=label)
    row.native.setPlaceholderText(when_empty)
    return row


def _parse(what: str, text: str) -> float | None:
    """Read a number; an empty field is None."""
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{what} {text!r} is not a number; write one like 0.5, or leave the field empty"
        ) from None
