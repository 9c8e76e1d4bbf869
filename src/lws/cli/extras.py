"""Parts that not every installation has."""

import sys
from importlib.util import find_spec

from lws.cli.problems import EXIT_USAGE, tell


def require_sandbox() -> None:
    """Leave with a hint where the sandbox's extra is not installed: half a sandbox is none."""
    if find_spec("cel") is None:
        tell("the sandbox is not installed", hint="install it with: pip install 'lws[sandbox]'")
        sys.exit(EXIT_USAGE)
