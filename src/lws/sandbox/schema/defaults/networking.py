"""Network policies and classes of Ingresses."""

from collections.abc import Mapping

from lws.sandbox.schema.defaults.words import JsonObject, Setter, absent_filler

_NETWORKING = "io.k8s.api.networking.v1."


def _network_policy_spec(spec: JsonObject) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


SETTERS: Mapping[str, Setter] = {
    f"{_NETWORKING}IngressClassParametersReference": absent_filler(scope="Cluster"),
    f"{_NETWORKING}NetworkPolicyPort": absent_filler(protocol="TCP"),
    f"{_NETWORKING}NetworkPolicySpec": _network_policy_spec,
}
