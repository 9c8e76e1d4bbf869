"""Kubelets: what becomes of a pod on its node.

`statuses` is pure: a pod and what befalls it, to the pod as it is then. `kubelet` decides when.
"""
