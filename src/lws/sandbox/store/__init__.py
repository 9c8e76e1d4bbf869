"""Objects by resource, namespace and name, their revisions and watches.

Law: knows no kind; every write is one revision.
"""
