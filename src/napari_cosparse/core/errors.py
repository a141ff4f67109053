"""The one exception of the package for wrong input."""


class InputError(ValueError):
    """Input that breaks a rule; the message names the culprit, its value, the rule and the way out."""
