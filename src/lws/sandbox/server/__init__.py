"""The verbs of an API server on plain objects, and the same over HTTP values.

Law: no network, no cluster behaviour; whoever is in this process calls `Api`.
"""
