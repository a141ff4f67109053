"""The arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError

from ._parser_learn import add_learn
from ._parser_register import add_apply, add_register
from ._parser_upsample import add_upsample, join_factors
from ._terminal import PROGRAM


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what `main` turns into exit code 2."""
        raise InputError(f"{message} (see {self.prog} --help)")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments.

    Parameters
    ----------
    argv : sequence of str, optional
        The words; those of the process if None.

    Returns
    -------
    argparse.Namespace
        The arguments; ``run`` is the function of the command.

    Raises
    ------
    InputError
        If they make no sense.
    SystemExit
        After ``--help`` and ``--version``.
    """
    import sys

    return _parser().parse_args(join_factors(sys.argv[1:] if argv is None else argv))


def _command(name: str) -> Callable[[argparse.Namespace], int | None]:
    """Return the function of a command; its libraries are loaded when it runs."""

    def run(arguments: argparse.Namespace) -> int | None:
        from importlib import import_module

        code: int | None = import_module(f"napari_cosparse.cli._{name}").run(arguments)
        return code

    return run


def _parser() -> _Parser:
    """Return the whole parser."""
    parser = _Parser(
        prog=PROGRAM,
        description="Coupled analysis operators: learn a pair from registered images of two "
        "modalities, upsample one modality with the other as a guide, register the two.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text, add in (
        ("learn", "learn an operator pair from registered image pairs", add_learn),
        ("upsample", "upsample an image with the help of a guide", add_upsample),
        ("register", "find how two images of two modalities lie on each other", add_register),
        ("apply", "resample an image by a transform that was found before", add_apply),
        ("info", "show what is in an operator file", _add_info),
        ("operators", "list the operators that come with the package", _add_nothing),
        ("demo", "make a scene, learn, upsample, register and compare", _add_demo),
    ):
        sub = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.set_defaults(run=_command(name))
        add(sub)
    return parser


def _add_info(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``info``."""
    parser.add_argument("operators", metavar="NAME|FILE", help="shipped name or operator file")


def _add_nothing(_: argparse.ArgumentParser) -> None:
    """Leave a command without arguments."""


def _add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``demo``."""
    add = parser.add_argument
    add("-o", "--out", type=Path, default=Path("cosparse-demo"), metavar="FOLDER",
        help="folder for the results; made if missing [%(default)s]")  # fmt: skip
    add(
        "--shape",
        type=int,
        nargs=2,
        default=(384, 512),
        metavar=("H", "W"),
        help="rows and columns of the scene [384 512]",
    )
    add("--factor", type=int, default=4, help="how much coarser the depth is made [%(default)s]")
    add("--seed", type=int, default=0, help="another seed makes another scene [%(default)s]")
    add("--view", action="store_true", help="open napari on the result")
