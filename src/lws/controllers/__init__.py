"""Which events wake which key, then observe, plan, perform.

Law: no rule of the spec lives here.
"""
