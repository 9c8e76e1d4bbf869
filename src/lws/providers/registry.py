"""Providers by name, ours and others'."""

from importlib.metadata import entry_points

from lws.base.errors import InvalidInput
from lws.providers.interface import SchedulerProvider

ENTRY_POINTS = "lws.scheduler_providers"


def find_provider(name: str) -> SchedulerProvider:
    """The provider of that name; InvalidInput names those that there are."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    point = found.get(name)
    if point is None:
        known = ", ".join(sorted(found)) or "none is installed"
        raise InvalidInput(
            field="gangSchedulingManagement.schedulerProvider",
            message=f"there is no provider {name!r}; known: {known}",
        )
    provider: SchedulerProvider = point.load()()
    return provider
