"""What a person does with a live cluster every day: look, undo, pause, restart.

Law: the words come from pure functions over plain objects (`reasons`, `groups`, `status`,
`history`); only `cluster` opens a connection, and only `changing` writes.
"""

from lws.cli.everyday.changing import pause, restart, resume, undo
from lws.cli.everyday.diff import diff
from lws.cli.everyday.logs import logs
from lws.cli.everyday.looking import get, history, status, tree

COMMANDS = (get, tree, status, logs, history, diff, undo, pause, resume, restart)

__all__ = ["COMMANDS"]
