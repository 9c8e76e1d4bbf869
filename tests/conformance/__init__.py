"""Requests and expected answers, on the sandbox and on a real API server."""
