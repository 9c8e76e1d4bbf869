"""Rules about whose an object is: nothing foreign is touched, and no user's wish is changed."""

from collections.abc import Iterator

from lws.simulation.acts import Act
from lws.simulation.judge.books import Books
from lws.simulation.judge.wire import Json, is_leader, labels_of, owner_of

OWNED = ("statefulsets", "services", "controllerrevisions", "podgroups")
SETS = ("leaderworkersets", "disaggregatedsets", "disaggregatedsetrolescalers")
OWN = ("leases", "events", "secrets")


def written(
    books: Books, act: Act, plural: str, new: Json | None, old: Json | None
) -> Iterator[tuple[str, str]]:
    """Rules of a write that is done, before the books know of it."""
    what = f"{act.request} by {act.life}"
    if plural in OWN or plural.endswith("webhookconfigurations"):
        return
    if plural == "pods":
        if new is not None and (old is None or not _is_deletion(new, old)):
            yield "only deletes pods", what
        elif old is not None and not is_leader(old):
            yield "only deletes leaders", what
        return
    owner = owner_of(old if old is not None else new or {})
    if plural in OWNED:
        if owner not in books.family:
            yield "nothing foreign", f"{what}: its owner is {owner or 'nobody'}"
        return
    if plural in SETS:
        if owner in books.family or old is None:
            return
        if new is None or new.get("spec") != old.get("spec") or labels_of(new) != labels_of(old):
            yield "a user's wish", f"{what} changes more than the status"
        return
    yield "kinds", f"{what} is nothing of ours"


def _is_deletion(new: Json, old: Json) -> bool:
    return "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]
