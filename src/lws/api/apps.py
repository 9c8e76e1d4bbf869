"""StatefulSets and ControllerRevisions, as far as a decision reads them."""

import msgspec

from lws.api import names
from lws.api.intorpercent import IntOrPercent
from lws.api.meta import ObjectMeta, Struct
from lws.base.ids import RevisionKey


class RollingUpdate(Struct, frozen=True, kw_only=True):
    """`updateStrategy.rollingUpdate`; the API server drops maxUnavailable where its gate is off."""

    partition: int = 0
    max_unavailable: IntOrPercent | None = None


class UpdateStrategy(Struct, frozen=True, kw_only=True):
    """`updateStrategy`."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class TemplateMeta(Struct, frozen=True, kw_only=True):
    """`template.metadata`."""

    labels: dict[str, str] = msgspec.field(default_factory=dict)


class Template(Struct, frozen=True, kw_only=True):
    """`template`, without what it makes pods from."""

    metadata: TemplateMeta = TemplateMeta()


class StatefulSetSpec(Struct, frozen=True, kw_only=True):
    """`spec` of a StatefulSet."""

    replicas: int = 1
    template: Template = Template()
    service_name: str = ""
    update_strategy: UpdateStrategy = UpdateStrategy()


class StatefulSetStatus(Struct, frozen=True, kw_only=True):
    """`status` of a StatefulSet; observed_generation None: no controller has seen it."""

    observed_generation: int | None = None
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(Struct, frozen=True, kw_only=True):
    """A StatefulSet of some LeaderWorkerSet.

    `document` is the whole object as JSON where a comparison may need it: for the leader
    StatefulSet, and for a worker StatefulSet that someone has changed (generation above 1).
    """

    metadata: ObjectMeta
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()
    document: bytes | None = None

    @property
    def revision_key(self) -> RevisionKey:
        """Of the template that its controller makes pods from; the label on the StatefulSet itself
        says the same, but anybody may have edited that, and no pod would follow."""
        own = self.spec.template.metadata.labels.get(names.REVISION_KEY)
        return RevisionKey(own or self.metadata.labels.get(names.REVISION_KEY, ""))


class ControllerRevision(Struct, frozen=True, kw_only=True):
    """A ControllerRevision; `data` is JSON."""

    metadata: ObjectMeta
    revision: int = 0
    data: msgspec.Raw = msgspec.Raw(b"null")


_statefulset_decoder = msgspec.json.Decoder(StatefulSet)
_revision_decoder = msgspec.json.Decoder(ControllerRevision)


def decode_statefulset(data: bytes | msgspec.Raw) -> StatefulSet:
    """Read one; the document is kept only where it may be needed."""
    statefulset = _statefulset_decoder.decode(data)
    meta = statefulset.metadata
    is_leader = meta.name == meta.labels.get(names.NAME)  # which may carry any label of its set
    is_worker = names.GROUP_INDEX in meta.labels and not is_leader
    if is_worker and meta.generation <= 1:
        return statefulset
    return msgspec.structs.replace(statefulset, document=bytes(data))


def decode_revision(data: bytes | msgspec.Raw) -> ControllerRevision:
    """Read one; its data is copied out, so that the answer it came in can go."""
    revision = _revision_decoder.decode(data)
    return msgspec.structs.replace(revision, data=revision.data.copy())
