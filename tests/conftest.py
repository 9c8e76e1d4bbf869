"""Settings of all tests."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

from tests.scheduling import pytest_configure_node as pytest_configure_node
from tests.scheduling import pytest_xdist_make_scheduler as pytest_xdist_make_scheduler

# CI judges a change by the same examples each time; who works on the code finds new ones.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """What a test sets up for its lines is not there in the next."""
    root = logging.getLogger()
    settings_before, handlers, level = structlog.get_config(), root.handlers[:], root.level
    yield
    structlog.configure(**settings_before)
    root.handlers[:] = handlers
    root.setLevel(level)
