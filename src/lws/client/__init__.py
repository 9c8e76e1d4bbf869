"""Talks: requests and responses as values, one transport that sends them.

Law: knows HTTP and the Kubernetes API conventions, no kind of ours; only transport imports a
network library.
"""
