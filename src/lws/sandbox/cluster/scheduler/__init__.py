"""The scheduler: which node a pod goes to, or why it goes to none.

`needs` reads a pod once, `world` knows what is where, `filters` says why a node will not do,
`placing` chooses, `gangs` keeps groups together, `scheduler` is the loop.
"""
