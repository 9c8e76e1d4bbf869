"""Parsing and printing: what a person types and reads.

Law: no decision about a cluster is taken here; data on stdout, all else on stderr.
"""

from lws.cli.main import main

__all__ = ["main"]
