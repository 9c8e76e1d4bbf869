"""`python -m lws`."""

from lws.cli import main

main()
