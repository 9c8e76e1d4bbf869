"""What a person does with a live cluster every day: look, undo, pause, restart.

Law: the words come from pure functions over plain objects (`reasons`, `groups`, `status`,
`history`); only `cluster` opens a connection, and only `changing` writes.
"""
