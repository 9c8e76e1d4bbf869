"""EndpointSlices: which pods a Service that selects pods leads to.

`endpoints` makes one endpoint out of a pod, `controller` keeps them in slices of a hundred.
"""
