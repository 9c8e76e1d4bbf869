"""The Job controller, for Jobs of the simple form: pods without an index, no policies of failure.

`controller` finds out which Job is due, `sync` is one pass over one, `status` counts its pods and
has the conditions, `backoff` says how long a new pod waits after failures.
"""
