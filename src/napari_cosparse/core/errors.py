"""The one exception of the package for wrong input."""


class InputError(ValueError):
    """Input that breaks a rule; the message names culprit, value, rule and way out."""
