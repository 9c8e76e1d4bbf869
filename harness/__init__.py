"""A real control plane on this machine, and the operator against it: for tests, demo, benchmarks.

The law: nothing here is part of the product, `lws` never imports it, and it imports nothing of
`lws` (the judge shares no code with what it judges). It starts processes, so it may only run on
Linux; whatever way its user ends, no process and no file stays behind (see `guard.py`).
"""
