"""Words that every layer needs: the Clock protocol, the error tree, names for kinds of strings.

Law: imports nothing of ours, does nothing, decides nothing.
"""
