"""Nodes: what they say of themselves, and what becomes of the pods of one that is lost.

`heartbeat` is the kubelets' side, `monitor` the control plane's, `eviction` acts on taints,
`podgc` on pods that have no node any more.
"""
