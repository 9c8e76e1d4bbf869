"""Settings of all tests."""

import os

from hypothesis import settings

from tests.scheduling import pytest_configure_node as pytest_configure_node
from tests.scheduling import pytest_xdist_make_scheduler as pytest_xdist_make_scheduler

# CI judges a change by the same examples each time; who works on the code finds new ones.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
