"""One world with two makes: the sandbox in virtual time, and a real control plane.

A test takes a `world` and runs on both; what it asserts is then true of both.
"""
