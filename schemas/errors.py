"""Errors that people read: what went wrong and what to do next.

AlmanacError        the work failed (exit code 1)
├── UsageError      the call was wrong (exit code 2)
│   └── NotFoundError   what it names does not exist
├── HeldError       publishing waits for a person's decision
├── BusyError       somebody else holds the lock
├── StoreError      an object store failed or refused
└── DamageError     a file is not what the manifest says
"""


class AlmanacError(Exception):
    """The work failed; the message says in one or two plain sentences what to do next."""

    exit_code = 1


class UsageError(AlmanacError):
    """The call was wrong."""

    exit_code = 2


class NotFoundError(UsageError):
    """What the call names does not exist."""


class HeldError(AlmanacError):
    """Publishing waits for a person's decision; `edition` is the candidate if there is one."""

    def __init__(self, message: str, edition: str | None = None) -> None:
        """Remember the candidate's id beside the message."""
        super().__init__(message)
        self.edition = edition


class BusyError(AlmanacError):
    """Somebody else holds the lock."""


class StoreError(AlmanacError):
    """An object store failed or refused; work that is done is kept."""


class DamageError(AlmanacError):
    """A file is not what the manifest says."""
