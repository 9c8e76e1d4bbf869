"""Acts: observe (cache to snapshot) and perform (one function per kind of action).

Law: the only place that writes to the API; decides nothing.
"""
