"""Our CustomResourceDefinitions, as dicts.

The files in `deploy/crds` are written from this by `make generate`.
"""

from __future__ import annotations

from copy import deepcopy

from lws.api.crds_disaggregatedset import disaggregated_set, role_scaler
from lws.api.crds_leaderworkerset import leader_worker_set
from lws.api.crds_words import Schema


def custom_resource_definitions() -> tuple[Schema, ...]:
    """All three; new copies each time."""
    return deepcopy((leader_worker_set(), disaggregated_set(), role_scaler()))


def file_name(crd: Schema) -> str:
    """Name of its file under `deploy/crds`."""
    return f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml"
