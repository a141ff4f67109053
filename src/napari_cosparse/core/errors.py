"""The exception of the package for wrong input."""


class InputError(ValueError):
    """Input that breaks a rule; the message names culprit, value, rule and way out."""


class ApartError(InputError):
    """Two images that do not meet; for a part of an image that is no error."""
