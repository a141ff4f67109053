"""The global analysis operator of a bank on images, and its exact adjoint (eq. op of the paper)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from napari_cosparse.core.borders import fold, pad
from napari_cosparse.core.types import Plane

from ._pair import OperatorPair
from ._program import Memory, Program
from ._tiles import Tile, tiles_of
from ._windows import Windows

Modality = Literal["u", "v"]


class GlobalOperator:
    """All atoms of one modality of a bank at every pixel of an image, with reflective borders.

    Parameters
    ----------
    pair : OperatorPair
        The bank.
    modality : {"u", "v"}
        Guide (fixed) or target (moving) side.
    dtype : dtype-like
        Arithmetic of the operator; float64 serves checks.
    """

    def __init__(
        self, pair: OperatorPair, modality: Modality, dtype: DTypeLike = np.float32
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.margin = pair.radius
        self.windows = [Windows(group, self.margin) for group in pair.groups]
        self.atoms = [
            windows.embed(
                np.ascontiguousarray(getattr(group, f"coefficients_{modality}"), self.dtype)
            )
            for windows, group in zip(self.windows, pair.groups, strict=True)
        ]

    def forward(self, image: Plane) -> list[Plane]:
        """Analyse an image.

        Parameters
        ----------
        image : ndarray, shape (h, w)
            Any unit.

        Returns
        -------
        list of ndarray, shape (k, h, w)
            Responses of each group, in the image's unit.
        """
        padded = pad(np.asarray(image, self.dtype), self.margin)
        shape = np.shape(image)
        return [self._forward_group(part, padded, shape) for part in range(len(self.atoms))]

    def _forward_group(self, part: int, padded: Plane, shape: tuple[int, ...]) -> Plane:
        atoms = self.atoms[part]
        out, memory = np.empty((len(atoms), *shape), self.dtype), Memory()
        for tile in tiles_of(0, shape[0], shape[1], *atoms.shape):
            program = Program(memory)
            responses = self.respond(program, part, padded, tile)
            program.run()
            out[:, *tile.inside] = responses.transpose(1, 0, 2)
        return out

    def respond(
        self, program: Program, part: int, padded: Plane, tile: Tile, name: str = "x"
    ) -> Plane:
        """Responses of group number `part` on one tile of a padded image.

        Parameters
        ----------
        program : Program
            Gets the calls.
        part : int
            Index of the group.
        padded : ndarray, shape (h + 2 * margin, w + 2 * margin)
            Image with its margin.
        tile : Tile
            Pixels wanted.
        name : str
            Purpose of the result in the program's memory.

        Returns
        -------
        ndarray, shape (tile.rows, k, tile.width)
            Holds them once the program has run.
        """
        atoms = self.atoms[part]
        out = program.memory.plane(name, (tile.rows, len(atoms), tile.width), self.dtype)
        program.add(np.matmul, atoms, self.windows[part].gather(program, padded, tile), out)
        return out

    def adjoint(self, responses: list[Plane]) -> Plane:
        """Apply the exact adjoint of `forward`.

        Parameters
        ----------
        responses : list of ndarray, shape (k, h, w)
            One array per group.

        Returns
        -------
        ndarray, shape (h, w)
        """
        height, width = responses[0].shape[1:]
        padded = np.zeros((height + 2 * self.margin, width + 2 * self.margin), self.dtype)
        memory = Memory()
        for part, atoms in enumerate(self.atoms):
            for tile in tiles_of(0, height, width, *atoms.shape):
                block = responses[part][:, *tile.inside].transpose(1, 0, 2)
                block = np.ascontiguousarray(block, self.dtype)
                program = Program(memory)
                self.windows[part].scatter(program, atoms, block, padded, tile)
                program.run()
        return fold(padded, self.margin)
