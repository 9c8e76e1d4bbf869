"""The Deployment controller, as Kubernetes 1.36 has it.

`controller` finds out which Deployment is due, `sync` is one pass over one, with its ReplicaSets
as revisions (`revisions`), how many pods each may have (`rollout`, `proportions`) and the status
(`status`). `sizes` reads numbers off objects, `hands` writes.
"""
