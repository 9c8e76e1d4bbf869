"""The store against a model: no lost update, a watch is the list replayed, nothing twice."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lws.sandbox.store import Changed, ChangeType, Compacted, Exists, Key, Missing, Store

NAMES = st.sampled_from([("a", "x"), ("a", "y"), ("b", "x"), ("", "n")])
WINDOW = 6

Objects = dict[tuple[str, str], dict[str, Any]]


class _Reader:
    """Follows one watch and keeps what it would show."""

    def __init__(self, store: Store, shown: Objects) -> None:
        self.cursor = store.cursor("/things", store.revision)
        self.shown = dict(shown)
        self.last = store.revision
        self.is_expired = False


class StoreMachine(RuleBasedStateMachine):
    """Any sequence of writes, with readers that lag as they like."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(window=WINDOW)
        self.model: Objects = {}
        self.past: dict[int, Objects] = {self.store.revision: {}}
        self.seen: list[tuple[Key, dict[str, Any]]] = []
        self.readers: list[_Reader] = []
        self.counter = 0

    def _key(self, place: tuple[str, str]) -> Key:
        return Key("/things", *place)

    def _body(self) -> dict[str, Any]:
        self.counter += 1
        return {"metadata": {}, "value": self.counter}

    def _written(self) -> None:
        self.past[self.store.revision] = dict(self.model)

    @rule(place=NAMES)
    def create(self, place: tuple[str, str]) -> None:
        try:
            made = self.store.create(self._key(place), self._body())
        except Exists:
            assert place in self.model
            return
        assert place not in self.model
        self.model[place] = made
        self.seen.append((self._key(place), made))
        self._written()

    @precondition(lambda self: self.seen)
    @rule(choice=st.integers(min_value=0), is_deletion=st.booleans())
    def write_from_what_was_seen(self, choice: int, is_deletion: bool) -> None:
        """A writer who may be late: it succeeds only on the newest."""
        key, seen = self.seen[choice % len(self.seen)]
        place = (key.namespace, key.name)
        try:
            if is_deletion:
                self.store.delete(key, expected=seen)
            else:
                new = self.store.update(key, self._body(), expected=seen)
        except Missing:
            assert place not in self.model
            return
        except Changed:
            assert self.model[place] is not seen
            return
        assert self.model[place] is seen
        if is_deletion:
            del self.model[place]
        else:
            self.model[place] = new
            self.seen.append((key, new))
        self._written()

    @rule(place=NAMES)
    def write_elsewhere(self, place: tuple[str, str]) -> None:
        """Another resource's writes take revisions too."""
        key = Key("/others", *place)
        present = self.store.get(key)
        if present is None:
            self.store.create(key, self._body())
        else:
            self.store.delete(key, expected=present)
        self._written()

    @rule()
    def watch(self) -> None:
        self.readers.append(_Reader(self.store, self.model))

    @precondition(lambda self: self.readers)
    @rule(choice=st.integers(min_value=0), most=st.integers(min_value=1, max_value=4))
    def read(self, choice: int, most: int) -> None:
        reader = self.readers[choice % len(self.readers)]
        if reader.is_expired:
            return
        try:
            changes = reader.cursor.take(most)
        except Compacted:
            reader.is_expired = True
            return
        for change in changes:
            assert change.revision > reader.last, "in order, and none twice"
            reader.last = change.revision
            place = (change.key.namespace, change.key.name)
            assert reader.shown.get(place) is change.old
            if change.type is ChangeType.DELETED:
                del reader.shown[place]
            else:
                reader.shown[place] = change.object

    @rule(back=st.integers(min_value=0, max_value=3 * WINDOW))
    def list_the_past(self, back: int) -> None:
        revision = max(1, self.store.revision - back)
        try:
            page = self.store.list("/things", revision=revision)
        except Compacted:
            assert back > 0
            return
        assert dict(page.items) == self.past[revision]

    @invariant()
    def the_list_is_the_model(self) -> None:
        assert dict(self.store.list("/things").items) == self.model

    @invariant()
    def readers_that_are_up_to_date_show_the_list(self) -> None:
        for reader in self.readers:
            if not reader.is_expired and reader.last == self.store.revision:
                assert reader.shown == self.model

    def teardown(self) -> None:
        for reader in self.readers:
            if reader.is_expired:
                continue
            try:
                for change in reader.cursor.take():
                    place = (change.key.namespace, change.key.name)
                    if change.type is ChangeType.DELETED:
                        del reader.shown[place]
                    else:
                        reader.shown[place] = change.object
            except Compacted:
                continue
            assert reader.shown == self.model, "a watch is the list replayed"


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
