"""Tool-tips from docstrings, so that a parameter is described in one place."""

import html
from collections.abc import Callable
from typing import Any

from docstring_parser import DocstringStyle, parse


def parameter_tips(function: Callable[..., Any]) -> dict[str, str]:
    """Describe the parameters of a function, for tool-tips.

    Parameters
    ----------
    function : callable
        Function with a numpydoc docstring.

    Returns
    -------
    dict of str to str
        Rich text for each parameter that the docstring names; Qt wraps its lines.
    """
    tips = {}
    for parameter in parse(function.__doc__ or "", DocstringStyle.NUMPYDOC).params:
        text = " ".join((parameter.description or "").replace("`", "").split())
        for name in parameter.arg_name.split(","):
            tips[name.strip()] = f"<p>{html.escape(text, quote=False)}</p>"
    return tips
