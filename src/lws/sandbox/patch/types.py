"""A schema as apply sees it: for each value the one way in which it is owned.

What surprised us in the real server: `x-kubernetes-preserve-unknown-fields` holds for everything
below it, also where a schema below declares fields. An object that declares nothing takes
anything. A list below an undeclared field is always atomic, an object there never is.
"""

from typing import Any, Final

from lws.sandbox.patch.values import MISSING, Missing
from lws.sandbox.schema import MISSING as NO_DEFAULT
from lws.sandbox.schema import ListType, Schema

Json = Any

SCALAR: Final = "scalar"
LIST: Final = "list"
MAP: Final = "map"
ANY: Final = ""


class Type:
    """What may stand at one place. Made from a schema when it is first asked for."""

    __slots__ = (
        "_element",
        "_fields",
        "_item",
        "_preserves",
        "_schema",
        "is_atomic_list",
        "is_atomic_map",
        "keys",
        "kinds",
        "scalar",
    )

    def __init__(self, schema: Schema, *, preserves: bool = False) -> None:
        self._schema = schema
        self._preserves = preserves or schema.preserves_unknown
        self._fields: dict[str, Type] = {}
        self._element: Type | Missing | None = MISSING
        self._item: Type | None = None
        self.kinds = _kinds(schema)
        self.scalar = _scalar(schema)
        self.is_atomic_list = schema.list_type is ListType.ATOMIC
        self.is_atomic_map = schema.is_atomic_map
        self.keys = schema.list_map_keys if schema.list_type is ListType.MAP else ()

    def form(self, value: Json) -> str:
        """How the value is looked at: as what it is, where that is allowed. ANY if it could be
        any of several (a null, or a kind that is not allowed)."""
        if len(self.kinds) == 1:
            return self.kinds[0]
        kind = kind_of(value)
        return kind if kind in self.kinds else ANY

    def kind(self, form: str) -> str:
        """The kind of a form; ANY is tried as the first of object, scalar and list."""
        return self.kinds[0] if form == ANY else form

    @property
    def schema(self) -> Schema:
        """What it was made from."""
        return self._schema

    def declares(self, name: str) -> bool:
        """Is it a named field? Other members are owned as a whole, too."""
        return name in self._schema.properties

    def member(self, name: str) -> "Type | None":
        """The type of an object's member; None if it may not have one of that name."""
        known = self._fields.get(name)
        if known is not None:
            return known
        schema = self._schema.properties.get(name)
        if schema is None:
            return self.element
        self._fields[name] = made = Type(schema, preserves=self._preserves)
        return made

    @property
    def element(self) -> "Type | None":
        """The type of members that no field declares."""
        if isinstance(self._element, Missing):
            self._element = self._make_element()
        return self._element

    def _make_element(self) -> "Type | None":
        if self._schema.additional is not None:
            return Type(self._schema.additional, preserves=self._preserves)
        if self._preserves or not self._schema.properties:
            return ANYTHING
        return None

    @property
    def item(self) -> "Type":
        """The type of a list's items."""
        if self._item is None:
            items = self._schema.items
            self._item = Type(items, preserves=self._preserves) if items else UNTYPED
        return self._item

    def default(self, name: str) -> Json:
        """The default of a field; MISSING if it has none."""
        schema = self._schema.properties.get(name)
        return MISSING if schema is None or schema.default is NO_DEFAULT else schema.default

    def takes_only_the_unknown(self) -> bool:
        """An object that declares no fields and takes anything."""
        return self.element is ANYTHING and not self._schema.properties


def kind_of(value: Json) -> str:
    """What a value is; ANY for null and for nothing."""
    if isinstance(value, dict):
        return MAP
    if isinstance(value, list):
        return LIST
    return ANY if value is None or value is MISSING else SCALAR


def _kinds(schema: Schema) -> tuple[str, ...]:
    if schema.int_or_string or not schema.type:
        return (MAP, SCALAR, LIST)
    return {"object": (MAP,), "array": (LIST,)}.get(schema.type, (SCALAR,))


def _scalar(schema: Schema) -> str:
    """numeric, boolean, string, or any scalar."""
    if schema.int_or_string:
        return ""
    if schema.type in ("integer", "number"):
        return "numeric"
    if schema.type == "boolean":
        return "boolean"
    return "string" if schema.type == "string" and schema.format in ("", "byte") else ""


class _Untyped(Type):
    """Below an undeclared list: everything is one whole."""

    __slots__ = ()

    @property
    def item(self) -> Type:
        return self

    @property
    def element(self) -> Type | None:
        return self


ANYTHING: Final = Type(Schema())
UNTYPED: Final = _Untyped(Schema(is_atomic_map=True))
