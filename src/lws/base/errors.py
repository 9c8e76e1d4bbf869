"""The one tree of errors, by what the caller does about it.

LwsError
├── InvalidInput          tell the user which field is wrong and what to do; do not retry
└── (client.errors)       what the API server or the way to it answered
"""


class LwsError(Exception):
    """Any failure of the world that we foresee; never a mistake of ours (those are asserts)."""


class InvalidInput(LwsError):
    """Something a person wrote is wrong; `field` is its path, the message says what to do."""

    def __init__(self, *, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
