"""The wire: names, our kinds, the parts of the built-in kinds that we read.

Law: no behaviour beyond reading and writing these shapes; imports only base.
"""
