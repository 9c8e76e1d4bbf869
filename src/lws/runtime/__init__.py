"""Runs: clock, informer, work queue, loop, leader election, events, metrics, health, logs.

Law: knows no kind of ours; only runtime.clock imports time, random and uuid.
"""
