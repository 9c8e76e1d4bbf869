"""What the built-in kinds look like: fields in Go's order, merge keys, defaults.

Law: tables read from generated data files, and questions about them. No judgement on objects.
"""
