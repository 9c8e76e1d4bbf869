"""The StatefulSet controller, as Kubernetes 1.36 has it.

`controller` finds out which set is due, `sync` is one pass over one set, with the pods' identity
(`identity`), the claims (`claims`), the ControllerRevisions (`revisions`), the status (`status`).
`hands` writes.
"""
