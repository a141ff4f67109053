"""The settings of the learning panel."""

from typing import Any

from napari_cosparse.core.operators import learn_operators

from ._form import Form
from ._numbers import parse_number, parse_numbers
from ._pair_rows import PairRows
from ._rows import flag_row, text_row, whole_row
from ._tips import parameter_tips

TIPS = {
    "bank": "<p>Add differences of pixels at distances to the learned atoms: better for "
    "upsampling, not for registration.</p>",
    "level": "<p>Pyramid level that is read of layers that have several; 0 is the finest. Of large "
    "images parts are read.</p>",
    "pair_name": "<p>What the pair is called in this viewer; all panels offer it at once.</p>",
}
TWO = ("kappa", "mu", "thresholds")
DEFAULTS: dict[str, Any] = learn_operators.__kwdefaults__ or {}


class LearnForm(Form):
    """One row for each setting; every name is the name of the parameter of `learn_operators`.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Whose layers are offered.
    """

    def __init__(self, viewer: Any) -> None:  # noqa: ANN401 the viewer or its proxy
        """Make the rows with the core's defaults."""
        super().__init__()
        self.pairs = PairRows(viewer)
        self.level = whole_row("level", "Level", 0, 0, 99)
        self.side = whole_row("side", "Patch side", DEFAULTS["side"], 2, 15)
        self.atoms = text_row("atoms", "Atoms", "2 x side x side")
        self.samples = whole_row("samples", "Patches", DEFAULTS["samples"], 1)
        self.pair_name = text_row("pair_name", "Name", "learned", "learned")
        self.iterations = whole_row("iterations", "Iterations", DEFAULTS["iterations"], 1)
        self.invalid_u = text_row("invalid_u", "Unknown in U", "none")
        self.invalid_v = text_row("invalid_v", "Unknown in V", "none")
        self.symmetries = flag_row(
            "symmetries", "For registration (symmetries)", value=DEFAULTS["symmetries"]
        )
        self.bank = flag_row("bank", "Add differences (for upsampling)", value=False)
        self.nu = text_row("nu", "Nu", f"{DEFAULTS['nu']:g}")
        pairs = [text_row(name, name.capitalize(), _two_text(DEFAULTS[name])) for name in TWO]
        self.seed = whole_row("seed", "Seed", DEFAULTS["seed"], 0)
        tips = parameter_tips(learn_operators)
        tips |= {"invalid_u": tips["invalid"], "invalid_v": tips["invalid"], **TIPS}
        self.fill(
            (self.pairs, self.level, self.side, self.atoms, self.samples, self.pair_name),
            (
                *(self.symmetries, self.bank, self.invalid_u, self.invalid_v, self.iterations),
                *(self.nu, *pairs, self.seed),
            ),
            tips,
        )

    def fit(self) -> None:
        """Show the level where there is a choice."""
        layers = [layer for pair in self.pairs.value for layer in pair if layer is not None]
        many = any(layer.multiscale for layer in layers)
        self.show_row("level", shown=many)
        if layers and not many:
            self.level.value = 0

    def keywords(self) -> dict[str, Any]:
        """Read the rows that are keywords of `learn_operators`.

        Returns
        -------
        dict
            All keywords but `report`.

        Raises
        ------
        InputError
            A number cannot be read.
        """
        atoms = parse_number("atoms", self.atoms.value)
        nu = parse_number("nu", self.nu.value)
        given = {name: parse_numbers(name, self.row(name).value) for name in TWO}
        return {
            "side": int(self.side.value),
            "atoms": None if atoms is None else int(atoms) if atoms.is_integer() else atoms,
            "samples": int(self.samples.value),
            "nu": DEFAULTS["nu"] if nu is None else nu,
            **{
                name: DEFAULTS[name] if value is None else _both(value)
                for name, value in given.items()
            },
            "symmetries": bool(self.symmetries.value),
            "invalid": (
                parse_number("unknown value of U", self.invalid_u.value),
                parse_number("unknown value of V", self.invalid_v.value),
            ),
            "iterations": int(self.iterations.value),
            "seed": int(self.seed.value),
        }


def _two_text(values: tuple[float, float]) -> str:
    return f"{values[0]:g}, {values[1]:g}"


def _both(value: float | tuple[float, float]) -> tuple[float, float]:
    """Take one number for both modalities."""
    return value if isinstance(value, tuple) else (value, value)
