"""Which rules a kind has."""

from collections.abc import Callable, Iterable, Mapping

from lws.sandbox.schema.errors import FieldError
from lws.sandbox.schema.rules import others
from lws.sandbox.schema.rules.admission import policy_binding_rules, policy_rules
from lws.sandbox.schema.rules.definitions import definition_rules
from lws.sandbox.schema.rules.deployments import deployment_rules, replica_set_rules
from lws.sandbox.schema.rules.ingresses import ingress_class_rules, ingress_rules
from lws.sandbox.schema.rules.jobs import job_rules
from lws.sandbox.schema.rules.pods import pod_rules, pod_template_rules
from lws.sandbox.schema.rules.policies import network_policy_rules
from lws.sandbox.schema.rules.quotas import limit_range_rules, quota_rules
from lws.sandbox.schema.rules.services import service_rules
from lws.sandbox.schema.rules.volumes import claim_rules
from lws.sandbox.schema.rules.words import Object
from lws.sandbox.schema.rules.workloads import (
    revision_rules,
    stateful_set_rules,
    stored_set_rules,
)

KindRules = Callable[[Object, Object | None], Iterable[FieldError]]
Kind = tuple[str, str, str]

_REGISTRATION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

RULES: Mapping[Kind, KindRules] = {
    ("", "v1", "ConfigMap"): others.config_map_rules,
    ("", "v1", "LimitRange"): limit_range_rules,
    ("", "v1", "Node"): others.node_rules,
    ("", "v1", "PersistentVolumeClaim"): claim_rules,
    ("", "v1", "Pod"): pod_rules,
    ("", "v1", "PodTemplate"): pod_template_rules,
    ("", "v1", "ResourceQuota"): quota_rules,
    ("", "v1", "Secret"): others.secret_rules,
    ("", "v1", "Service"): service_rules,
    (_REGISTRATION, "v1", "ValidatingAdmissionPolicy"): policy_rules,
    (_REGISTRATION, "v1", "ValidatingAdmissionPolicyBinding"): policy_binding_rules,
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"): definition_rules,
    ("apps", "v1", "ControllerRevision"): revision_rules,
    ("apps", "v1", "DaemonSet"): stored_set_rules,
    ("apps", "v1", "Deployment"): deployment_rules,
    ("apps", "v1", "ReplicaSet"): replica_set_rules,
    ("apps", "v1", "StatefulSet"): stateful_set_rules,
    ("batch", "v1", "Job"): job_rules,
    ("coordination.k8s.io", "v1", "Lease"): others.lease_rules,
    ("discovery.k8s.io", "v1", "EndpointSlice"): others.fixed("addressType"),
    ("networking.k8s.io", "v1", "Ingress"): ingress_rules,
    ("networking.k8s.io", "v1", "IngressClass"): ingress_class_rules,
    ("networking.k8s.io", "v1", "NetworkPolicy"): network_policy_rules,
    ("policy", "v1", "PodDisruptionBudget"): others.budget_rules,
    (_RBAC, "v1", "ClusterRole"): others.cluster_role_rules,
    (_RBAC, "v1", "ClusterRoleBinding"): others.cluster_role_binding_rules,
    (_RBAC, "v1", "Role"): others.role_rules,
    (_RBAC, "v1", "RoleBinding"): others.role_binding_rules,
    ("scheduling.k8s.io", "v1", "PriorityClass"): others.priority_class_rules,
    ("storage.k8s.io", "v1", "StorageClass"): others.storage_class_rules,
}
