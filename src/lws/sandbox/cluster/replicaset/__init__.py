"""The ReplicaSet controller, as Kubernetes 1.36 has it.

`controller` finds out which set is due and makes a pass over it, `preference` says which pods go
first, `status` counts.
"""
