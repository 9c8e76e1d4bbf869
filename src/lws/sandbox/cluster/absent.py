"""What may have gone by the time a controller asks: that is no error."""

from types import TracebackType

from lws.client.resources import Resource
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject, Verbs

NOT_FOUND = 404


def find(api: Verbs, resource: Resource, *, name: str, namespace: str = "") -> JsonObject | None:
    """As it stands in the store; None if it is not there, or its kind is not served."""
    try:
        return api.get(resource, name=name, namespace=namespace or None)
    except ApiStatus as refusal:
        if refusal.code != NOT_FOUND:
            raise
        return None


class may_be_gone:  # noqa: N801 (reads as a statement, as contextlib.suppress does)
    """`with may_be_gone(): …` ends at a refusal with code 404, or one of `codes`, and goes on."""

    def __init__(self, *codes: int) -> None:
        self._codes = (NOT_FOUND, *codes)

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Whether the refusal is one of those."""
        return isinstance(error, ApiStatus) and error.code in self._codes
