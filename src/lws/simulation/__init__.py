"""A whole run from one seed: virtual time, faults, users, failing machines, and a judge.

Law: judges the operator, so it shares no logic with it. It knows the sandbox, the wire (`api`) and
the client's requests, answers and errors; the program that is judged is handed in (`Program`).
Chance and time come from outside, so that a seed repeats a run to the byte.
"""
