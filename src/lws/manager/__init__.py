"""One process: configuration, wiring, start order, shutdown.

Law: the only place that knows every part.
"""
