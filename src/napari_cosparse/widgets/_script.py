"""Scripts that give the same results as the panels for upsampling and for learning."""

from collections.abc import Mapping, Sequence
from typing import Any

from napari.layers import Image

from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import match_stacks

from ._configure import memory_bytes
from ._job import Pair
from ._script_parts import Operators, keyword_lines, literal, opening, whole_script

NOT_IN_SCRIPT = {"weights", "start", "solver", "seed"}
ADD = "viewer.add_layer(napari.layers.Layer.create(*made))\n"


def upsample_script(pair: Pair, operators: Operators, settings: Settings) -> str:
    """Write a script that upsamples as the panel does.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : Operators
        The operators.
    settings : Settings
        As `placed` completes them.

    Returns
    -------
    str
        Python.
    """
    several = match_stacks(*pair.sources()).planes > 1
    solved = _planes(operators, settings) if several else _plane(operators, settings)
    body = f"""{_sources(pair, operators)}{solved}\
made = layer_data(results, destination(target, guide, levels, {operators.name!r}))
{ADD}"""
    return whole_script(f"Upsamples {pair.target.name!r}", body)


def store_script(pair: Pair, operators: Operators, settings: Settings, path: str) -> str:
    """Write a script that upsamples into a store as the panel does.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : Operators
        The operators.
    settings : Settings
        As `placed` completes them.
    path : str
        The store.

    Returns
    -------
    str
        Python.
    """
    body = f"""{_sources(pair, operators)}\
where = destination(target, guide, levels, {operators.name!r})
stored = nc.upsample_to_store(
    low.gray,
    fine.pixels,
    {path!r},
    {operators.python},
    memory={int(memory_bytes())},
    colour=(False, fine.rgb),
    **store_place(where),
{_told(settings)})
print(stored)
made = stored_data(open_levels(stored.path), stored, where)
{ADD}"""
    return whole_script(f"Upsamples {pair.target.name!r} into a store", body)


def learn_script(
    pairs: Sequence[tuple[Image, Image]],
    keywords: Mapping[str, Any],
    name: str,
    *,
    level: int = 0,
    join: bool = False,
) -> str:
    """Write a script that learns as the panel does.

    Parameters
    ----------
    pairs : sequence of tuple of Image
        Layers of U and V.
    keywords : mapping
        Of `learn_operators`.
    name : str
        What the pair is called.
    level : int
        Level of the pyramids among them.
    join : bool
        Whether differences are added.

    Returns
    -------
    str
        Python.
    """
    layers: dict[str, Image] = {}
    for layer in (layer for pair in pairs for layer in pair):
        layers.setdefault(layer.name, layer)
    variables = {name: f"layer{number}" for number, name in enumerate(layers)}
    first = variables[pairs[0][0].name]
    opened = opening({variables[name]: layer for name, layer in layers.items()})
    read = [
        ", ".join(
            f"read({variables[layer.name]}, {level if layer.multiscale else 0})" for layer in pair
        )
        for pair in pairs
    ]
    rows = "".join(f"    ({both}),\n" for both in read)
    body = f"""{opened}pairs = []
for u, v in [
{rows}]:
    for ours, theirs in match_stacks(u, v).pairs():
        pairs.append((u.lazy(ours), v.lazy(theirs)))
learned = nc.learn_operators(
    pairs,
{keyword_lines({key: literal(value) for key, value in keywords.items()})})
atoms = {"bank(learned.pair)" if join else "learned.pair"}
for made in atom_layers(atoms, {name!r}, None, {first}, viewer.layers):
    {ADD}"""
    return whole_script(f"Learns the operator pair {name!r}", body)


def _sources(pair: Pair, operators: Operators) -> str:
    """Find or open target, guide and operators."""
    return f"""{opening({"target": pair.target, "guide": pair.guide})}\
levels = {pair.levels!r}  # of the pyramids, for target and guide
low, fine = read(target, levels[0]), read(guide, levels[1])
{operators.before}"""


def _plane(operators: Operators, settings: Settings) -> str:
    """Upsample the only plane."""
    return f"""results = [
    nc.upsample(
        low.load_gray(ours),
        fine.load(theirs),
        {operators.python},
{_told(settings, "    ")}    )
    for ours, theirs in match_stacks(low, fine).pairs()
]
"""


def _planes(operators: Operators, settings: Settings) -> str:
    """Upsample the planes of a stack; those of which nothing is known stay unknown."""
    return f"""results = []
for ours, theirs in match_stacks(low, fine).pairs():
    samples = low.load_gray(ours)
    results.append(None)  # a plane stays unknown if no known sample of it lies on the guide
    try:
        if known_samples(samples, {settings.invalid!r}).any():
            results[-1] = nc.upsample(
                samples,
                fine.load(theirs),
                {operators.python},
{_told(settings, " " * 12)}            )
    except ApartError:
        pass
"""


def _told(settings: Settings, space: str = "") -> str:
    """Keywords of `upsample`, to the last digit, one a line."""
    told = {k: v for k, v in settings.as_json().items() if k not in NOT_IN_SCRIPT}
    lines = keyword_lines(
        {k: repr(tuple(v) if isinstance(v, list) else v) for k, v in told.items()}
    )
    return "".join(f"{space}{line}\n" for line in lines.splitlines())
