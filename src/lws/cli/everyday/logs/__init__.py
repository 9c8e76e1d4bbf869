"""`lws logs`: the logs of a group's pods side by side.

Law: `sources` says whose logs and what to say of pods that have none (pure); `reading` and
`following` bring the lines; only `command` prints.
"""

from lws.cli.everyday.logs.command import logs as logs
