"""`lws check cluster`: what is there, and what would change if this operator took over.

Law: every request is a GET; what is judged is judged by the code that the operator runs
(`controllers.rehearsal`, `admission`). Only `reading` and `survey` ask the API server; the rest
is pure.
"""

from lws.cli.check.command import check

__all__ = ["check"]
