"""A type for each kind of string that must not be taken for another."""

from typing import NewType

UID = NewType("UID", str)
"""`metadata.uid`: the identity of one life of an object; a name can live many times."""

RevisionKey = NewType("RevisionKey", str)
"""Value of the label `template-revision-hash`: which template a pod was made from."""

ResourceVersion = NewType("ResourceVersion", str)
"""`metadata.resourceVersion`: ordered by the API server alone."""
