"""What a cluster does besides its API server: controllers, scheduler, kubelets.

Law: speaks to the server through its verbs alone, on the clock it is given.
"""
