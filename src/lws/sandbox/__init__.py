"""A control plane on this machine, in memory: API server, and the controllers that a cluster has.

Law: judges the operator, so it shares no logic with it: imports api, base, and the request and
response values of client. Exact where it answers; what it does not do answers 501 and stands in
docs/limits.md.
"""
