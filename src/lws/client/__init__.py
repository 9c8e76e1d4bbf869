"""Talks: requests and responses as values, one transport that sends them.

Law: knows HTTP, the Kubernetes API's conventions and where each kind is served, but not what is in
an object. Building a request and reading an answer are pure; only `transport` imports a network
library. No time and no chance except through a Clock.
"""
