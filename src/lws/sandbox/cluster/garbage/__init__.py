"""The garbage collector: what an owner's end means for what it owns.

`graph` knows who owns whom, from watches of all kinds; `collector` acts on it.
"""
