"""What the TPU runtime of each container must know of the others (spec: pods.md section 1)."""

from lws.admission.documents import JsonObject, child, items, text
from lws.admission.pods.environment import CONTAINERS, change_containers, find_variable, with_last
from lws.admission.pods.member import Member, Rejected
from lws.admission.pods.subgroups import subgroup_of, workers_of_subgroup
from lws.api import names
from lws.api.quantities import parse_quantity

RESOURCE = "google.com/tpu"
WORKER_HOSTNAMES = "TPU_WORKER_HOSTNAMES"
WORKER_ID = "TPU_WORKER_ID"
NAME = "TPU_NAME"
PROCESS_ADDRESSES = "TPU_PROCESS_ADDRESSES"
PROCESS_PORT = "TPU_PROCESS_PORT"
PORT = 8476
# Each variable holds all of them, and Linux takes 128 KiB a variable: some 6,000 host names. A
# number beyond that is a mistake, which must not cost us memory.
_HOSTS_MAX = 10_000


def add_tpu_variables(spec: JsonObject, *, member: Member, annotations: JsonObject) -> None:
    """The variables of the containers that ask for TPUs, if there are any."""
    asking = [c for kind in CONTAINERS for c in items(spec, kind) if requests_tpus(c)]
    if not asking or _is_done(asking[0]):
        return
    if member.subgroup_size is not None:
        # More than one in a pod is not foreseen with subgroups.
        asking = asking[:1]
    leader_asks = member.is_leader or annotations.get(names.LEADER_REQUESTS_TPUS) == "true"
    workers = _workers(member, leader_asks=leader_asks, containers=len(asking))
    variables = _variables(asking, spec=spec, member=member, workers=workers)
    positions = {id(container): index for index, container in enumerate(asking)}

    def changed(container: JsonObject) -> JsonObject:
        position = positions.get(id(container))
        return container if position is None else with_last(container, variables[position])

    change_containers(spec, changed)


def requests_tpus(container: object) -> bool:
    """Whether the container asks for a positive number of TPUs, as request or as limit."""
    resources = child(container, "resources")
    return any(
        _is_positive(child(resources, kind).get(RESOURCE)) for kind in ("limits", "requests")
    )


def _is_positive(amount: object) -> bool:
    if isinstance(amount, bool) or not isinstance(amount, str | int | float):
        return False
    try:
        return parse_quantity(amount) > 0
    except ValueError:
        return False


def _is_done(container: JsonObject) -> bool:
    return any(find_variable(container, name) for name in (WORKER_HOSTNAMES, WORKER_ID))


def _workers(member: Member, *, leader_asks: bool, containers: int) -> list[int]:
    """Worker indices of the pods that compute together with this one (0: the leader): its own
    subgroup, or the group, and the leader only if it asks for TPUs itself."""
    if member.is_leader_excluded and member.subgroup_size is not None:
        return [0]
    subgroup, workers = 0, range(1, member.size)
    if member.subgroup_size is not None:
        subgroup = subgroup_of(
            member.worker_index, size=member.size, subgroup_size=member.subgroup_size
        )
        workers = workers_of_subgroup(subgroup, member=member)
    if (len(workers) + 1) * containers > _HOSTS_MAX:
        raise Rejected(f"pod {member.pod}: {len(workers)} workers are too many for TPU variables")
    with_leader = leader_asks and subgroup == 0 and not _is_leader_apart(member)
    return [0, *workers] if with_leader else [*workers]


def _is_leader_apart(member: Member) -> bool:
    return member.subgroup_size is not None and member.leader_excluded


def _variables(
    asking: list[JsonObject], *, spec: JsonObject, member: Member, workers: list[int]
) -> list[dict[str, str]]:
    """One map for each container that asks."""
    subdomain = text(spec, "subdomain")
    hosts = [f"{_pod_name(member.leader, worker)}.{subdomain}" for worker in workers]
    own_ports = [_own_port(container) for container in asking]
    ports = [own or str(PORT + index) for index, own in enumerate(own_ports)]
    own = member.worker_index
    # One that is not of the list gets no number of another's: its TPU runtime says what is wrong.
    place = workers.index(own) if own in workers else len(workers)
    shared = {
        WORKER_HOSTNAMES: ",".join(host for host in hosts for _ in ports),
        NAME: member.leader,
        PROCESS_ADDRESSES: ",".join(f"{host}:{port}" for host in hosts for port in ports),
    }
    return [
        {
            WORKER_HOSTNAMES: shared[WORKER_HOSTNAMES],
            WORKER_ID: str(place * len(asking) + index),
            NAME: shared[NAME],
            PROCESS_ADDRESSES: shared[PROCESS_ADDRESSES],
            **({} if find_variable(container, PROCESS_PORT) else {PROCESS_PORT: ports[index]}),
        }
        for index, container in enumerate(asking)
    ]


def _pod_name(leader: str, worker: int) -> str:
    return leader if worker == 0 else f"{leader}-{worker}"


def _own_port(container: JsonObject) -> str:
    return text(find_variable(container, PROCESS_PORT), "value")
