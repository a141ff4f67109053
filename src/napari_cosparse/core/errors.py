"""The exceptions of the package for wrong input."""

from collections.abc import Callable


class InputError(ValueError):
    """Input that breaks a rule; the message names culprit, value, rule and way out."""


class ApartError(InputError):
    """Two images that do not meet; for a part of an image that is no error."""


class OccupiedError(InputError):
    """A place that holds something already; options of the caller are ways out.

    Parameters
    ----------
    problem : str
        What is there.
    options : dict
        Names of options that are switched on, and what each of them does.
    other : str
        What else can be done.
    """

    def __init__(self, problem: str, options: dict[str, str], other: str) -> None:
        self.problem, self.options, self.other = problem, options, other
        super().__init__(self.spelled("{}=True".format))

    def __reduce__(self) -> tuple[object, ...]:
        """Cross the border of a process."""
        return type(self), (self.problem, self.options, self.other)

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with the options as the caller knows them.

        Parameters
        ----------
        spell : callable
            Takes the name of an option.

        Returns
        -------
        str
        """
        ways = [f"{spell(name)} {does}" for name, does in self.options.items()]
        return f"{self.problem}; {', '.join(ways)}, or {self.other}"
