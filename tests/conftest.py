"""Settings of all tests."""

import os

from hypothesis import settings

# CI judges a change by the same examples each time; who works on the code finds new ones.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
