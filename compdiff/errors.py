"""Every error that compdiff raises on purpose. In: what went wrong. Out: a message, a hint, an exit code."""


class CompdiffError(Exception):
    """A problem the user can act on: `message` says what and where, `hint` says what to do next."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CaseError(CompdiffError):
    """A case file cannot be found, read or used as a case."""


class CaptureError(CompdiffError):
    """A case failed while it was measured."""


class FormatError(CompdiffError):
    """A file is not what its name says: wrong schema, truncated, or from a newer version."""
