"""Gang scheduling providers: what a PodGroup looks like, how a pod is marked.

Law: pure; found by entry point.
"""
