"""Solvers that know no manifold: conjugate gradients, line search, stop reasons."""

from ._beta import (
    Beta,
    Products,
    dai_yuan,
    fletcher_reeves,
    hestenes_stiefel,
    hybrid,
    polak_ribiere_plus,
    steepest,
)
from ._conjugate import iterate
from ._lbfgs import Descent, lbfgs
from ._minimise import minimise, until
from ._objective import Counted, Objective
from ._result import Iterate, Onward, Result
from ._search import Search, Step, backtrack
from ._stop import Stop

__all__ = [
    "Beta",
    "Counted",
    "Descent",
    "Iterate",
    "Objective",
    "Onward",
    "Products",
    "Result",
    "Search",
    "Step",
    "Stop",
    "backtrack",
    "dai_yuan",
    "fletcher_reeves",
    "hestenes_stiefel",
    "hybrid",
    "iterate",
    "lbfgs",
    "minimise",
    "polak_ribiere_plus",
    "steepest",
    "until",
]
