"""What means the same though it is written differently: tables, each entry with its reason.

Beyond these tables the Go types decide (`lws.api.schema.gotypes`), since it is from them that the
API server and the other controller read and write:

- null is absent;
- an empty list or map is absent: no field of a pod template tells them apart;
- a zero value (false, 0, "", quantity 0, a struct with nothing in it) is absent where the Go field
  is no pointer; where it is one, `false` was said by somebody and absence was not.

A pointer to a struct with nothing in it is *kept*: presence itself speaks. `emptyDir: {}` chooses
the kind of volume (so do all volume sources, probe handlers and `envFrom` sources), a
`labelSelector: {}` selects all pods and none selects nothing, a `namespaceSelector: {}` means all
namespaces and none the pod's own, `leaderTemplate: {}` and `subGroupPolicy: {}` ask for one,
`seLinuxOptions: {}` and `windowsOptions: {}` take the place of the pod's, and
`volumeClaimTemplate: {}` is refused where absence is not. Where it does not speak stands below.
"""

from __future__ import annotations

from collections.abc import Mapping

from lws.api.leaderworkerset import RestartPolicy, SubdomainPolicy, SubGroupPolicyType
from lws.api.schema.gotypes import struct_defaults

EMPTY_SAYS_NOTHING: Mapping[str, str] = {
    "core.Affinity": "no term is asked for",
    "core.NodeAffinity": "no term is asked for",
    "core.PodAffinity": "no term is asked for",
    "core.PodAntiAffinity": "no term is asked for",
    "core.Capabilities": "none added, none dropped",
    "core.Lifecycle": "no hook",
    "core.PodDNSConfig": "adds nothing to the policy's own",
    "core.PodSecurityContext": "the API server writes it where there is none",
    "core.SecurityContext": "each field falls back to the pod's",
    "core.ResourceRequirements": "nothing is asked for",
    "apps.StatefulSetPersistentVolumeClaimRetentionPolicy": "both fields default to Retain",
}

_OUR_DEFAULTS: Mapping[str, Mapping[str, object]] = {
    # Without a network configuration it is the default one.
    "lws.Template": {"networkConfig": {"subdomainPolicy": SubdomainPolicy.SHARED.value}},
    "lws.NetworkConfig": {"subdomainPolicy": SubdomainPolicy.SHARED.value},
    "lws.LeaderWorkerTemplate": {
        "size": 1,
        "restartPolicy": RestartPolicy.RECREATE_GROUP_ON_POD_RESTART.value,
    },
    "lws.SubGroupPolicy": {"subGroupPolicyType": SubGroupPolicyType.LEADER_WORKER.value},
    # A template of a claim can be nothing else.
    "core.PersistentVolumeClaim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
}

OTHER_NAMES: Mapping[tuple[str, str], Mapping[object, object]] = {
    ("lws.LeaderWorkerTemplate", "restartPolicy"): {
        RestartPolicy.DEFAULT.value: RestartPolicy.NONE.value
    },
}

NOT_TEMPLATE: Mapping[str, frozenset[str]] = {
    # A mark of the patch that a ControllerRevision's data is; and what rolls nothing.
    "lws.LeaderWorkerTemplate": frozenset({"$patch", "maxGroupRestarts"}),
    "lws.NetworkConfig": frozenset({"$patch"}),
}

DROPPED_BY_SERVERS: frozenset[str] = frozenset(
    {
        # Where the feature gate MaxUnavailableStatefulSet is off.
        "spec.updateStrategy.rollingUpdate.maxUnavailable",
    }
)

# What may be left out of the keys by which items of a list are told apart.
DEFAULT_KEYS: Mapping[str, str] = {"protocol": "TCP", "name": ""}


def defaults_of(struct: str) -> Mapping[str, object]:
    """What an absent field of this struct is read as: as the schema of a CRD has it."""
    return _OUR_DEFAULTS.get(struct) or struct_defaults(struct)
