"""What the webhook makes of a pod that a StatefulSet controller creates for us.

Law: a pod that is not ours is not touched; a pod of ours that cannot be understood is refused with
the reason; everything else is a function of the pod and its namespace alone.
"""

from lws.admission.pods.member import Rejected
from lws.admission.pods.mutation import PodMarker, mutate_pod

__all__ = ["PodMarker", "Rejected", "mutate_pod"]
