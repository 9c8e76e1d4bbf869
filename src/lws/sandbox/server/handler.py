"""The verbs over HTTP values: a request in, a response or a stream out."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from lws.client.requests import Request
from lws.client.responses import Response
from lws.sandbox.server import parsing, status
from lws.sandbox.server.api import Api, deletion_answer, require_verb
from lws.sandbox.server.authentication.accounts import TokenRefused
from lws.sandbox.server.authentication.users import MASTERS
from lws.sandbox.server.authentication.users import User as User
from lws.sandbox.server.authorization.attributes import attributes_of
from lws.sandbox.server.authorization.impersonation import Impersonations, impersonation_of
from lws.sandbox.server.logs import LogOptions, follow, log_of, log_options
from lws.sandbox.server.operations import Operation
from lws.sandbox.server.parameters import (
    Parameters,
    delete_options,
    list_options,
    require_option_types,
    watch_options,
    write_options,
)
from lws.sandbox.server.paths import Target, target_of
from lws.sandbox.server.plain import PlainPaths
from lws.sandbox.server.presentation import (
    EventWriter,
    accepted_of,
    json_response,
    list_as,
    object_as,
    refusal_response,
)
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, EventType, ListOptions, WatchEvent, WatchOptions
from lws.sandbox.server.watches import StoreWatch
from lws.sandbox.server.writes import found

JsonObject = dict[str, Any]
Headers = Mapping[str, str]

_NO_HEADERS: Headers = {}
_WATCH_SECONDS = 1800.0  # at least; at most twice as long, so that not all clients return at once
_UNDONE_READS = frozenset(("attach", "exec", "portforward", "proxy"))
_LOG = "log"
_PLAIN = "text/plain"


ADMIN_USER = User("sandbox-admin")


@dataclass(slots=True)
class _Call:
    """One request on its way."""

    request: Request
    headers: Headers
    user: User
    query: Parameters
    target: Target
    warnings: list[str]

    @property
    def body(self) -> bytes:
        return self.request.body or b""

    def operation(self, caller: Caller, *, options: JsonObject | None = None) -> Operation:
        """What is asked, as a caller."""
        return Operation(
            kind=self.target.kind,
            namespace=self.target.namespace or "",
            name=self.target.name,
            subresource=self.target.subresource,
            caller=caller,
            options=options or {},
            warnings=self.warnings,
        )


class Handler:
    """Answers requests. Header names are lower case."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.beside: dict[str, Callable[[Request], Awaitable[Response]]] = {}
        """Paths that are no API server's, and who answers them."""
        self._plain = PlainPaths(api.world)
        self._impersonations = Impersonations(api.world.authorizer)

    async def handle(
        self, request: Request, *, headers: Headers = _NO_HEADERS, user: User = ADMIN_USER
    ) -> Response:
        """The whole answer; a refusal is one too. A watch is read to its end."""
        warnings: list[str] = []
        try:
            parsing.require_size(request.body)
            self._admit(request, user)
            if request.path in self.beside:
                return await self.beside[request.path](request)
            target = target_of(request.path, self.api.world.registry)
            if target is None:
                return self._plain.answer(request, headers)
            query = Parameters(request.query)
            call = _Call(request, headers, user, query, target, warnings)
            if target.kind.deprecation:
                warnings.append(target.kind.deprecation)
            if _is_watch(call):
                return await self._whole_watch(request, headers, user)
            return await self._answer(call)
        except ApiStatus as refusal:
            return refusal_response(refusal, warnings=warnings)
        except RecursionError:
            return refusal_response(status.bad_request("the body is nested too deeply"))

    @asynccontextmanager
    async def stream(
        self, request: Request, *, headers: Headers = _NO_HEADERS, user: User = ADMIN_USER
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """A watch's lines, or a log's, as they come; ApiStatus if it is refused."""
        self._admit(request, user)
        target = target_of(request.path, self.api.world.registry)
        if target is None:
            raise status.no_such_path()
        call = _Call(request, headers, user, Parameters(request.query), target, [])
        if target.subresource == _LOG:
            async with aclosing(self._log(call)) as chunks:
                yield chunks
            return
        options, writer = self._asked(call)
        try:
            watch = StoreWatch(self.api.world, target.kind, target.namespace, options)
        except ApiStatus as refusal:
            if refusal.reason != "Expired":
                raise
            yield _only(writer.line(WatchEvent(EventType.ERROR, refusal.to_json())))
            return
        async with watch, aclosing(_lines(watch, writer)) as lines:
            yield lines

    def user_of(self, token: str) -> User | None:
        """Whose token it is; None if it is nobody's."""
        world = self.api.world
        try:
            return world.users.get(token) or world.accounts.user_of(token)
        except TokenRefused:
            return None

    def acting(
        self, request: Request, user: User, headers: Sequence[tuple[str, str]]
    ) -> User | None:
        """In whose name the user asks; None if in his own, 403 if he may not."""
        wanted = impersonation_of(headers)
        if wanted is None:
            return None
        asked = attributes_of(request, user=user.name, groups=user.groups)
        return self._impersonations.admit(user, wanted, asked)

    def _admit(self, request: Request, user: User) -> None:
        """403 if the user may not do that."""
        if MASTERS not in user.groups:
            asked = attributes_of(request, user=user.name, groups=user.groups)
            self.api.world.authorizer.admit(asked)

    def media_of_stream(self, request: Request) -> str:
        """As what the answer is to be streamed; empty if it is to be sent as a whole."""
        if request.method != "GET":
            return ""
        query = Parameters(request.query)
        target = target_of(request.path, self.api.world.registry)
        if target is None:
            return ""
        if target.subresource == _LOG and query.flag("follow"):
            return _PLAIN
        return "application/json" if query.flag("watch") and not target.name else ""

    async def _whole_watch(self, request: Request, headers: Headers, user: User) -> Response:
        async with self.stream(request, headers=headers, user=user) as lines:
            body = b"".join([line async for line in lines])
        return Response(200, {"content-type": "application/json"}, body)

    def _asked(self, call: _Call) -> tuple[WatchOptions, EventWriter]:
        kind = call.target.kind
        require_verb(call.operation(Caller()), "watch")
        accepted = accepted_of(call.headers.get("accept", ""))
        options = watch_options(call.query)
        clock = self.api.world.clock
        if options.timeout_seconds is None:
            seconds = _WATCH_SECONDS * (1 + clock.random())
            options = replace(options, timeout_seconds=seconds)
        include = call.query.text("includeObject")
        return options, EventWriter(kind, accepted.form, include=include, now=clock.now)

    async def _answer(self, call: _Call) -> Response:
        method = call.request.method
        if method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            raise status.method_not_allowed()
        if call.target.name:
            return await self._answer_object(call, method)
        match method:
            case "GET":
                return self._list(call)
            case "POST":
                return await self._create(call)
            case "DELETE":
                return await self._delete_collection(call)
        raise status.method_not_allowed()

    async def _answer_object(self, call: _Call, method: str) -> Response:
        if call.target.subresource == _LOG:
            return await self._whole_log(call)
        if call.target.subresource in _UNDONE_READS:
            self._require_part(call)
            found(self.api.world, call.operation(self._reader(call)))
            where = f"{call.target.kind.resource.plural}/{call.target.subresource}"
            raise status.not_implemented(where)
        match method:
            case "GET":
                return self._get(call)
            case "POST":
                return await self._create(call)
            case "PUT":
                return await self._update(call)
            case "PATCH":
                return await self._patch(call)
        return await self._delete(call)

    def _require_part(self, call: _Call) -> None:
        if call.target.subresource not in call.target.kind.subresources:
            raise status.no_such_path()

    # Reads

    def _log(self, call: _Call) -> AsyncGenerator[bytes]:
        """Refused before the first byte is asked for."""
        options = self._log_options(call)
        pod = found(self.api.world, call.operation(self._reader(call)))
        if options.follow:
            log_of(pod, options)
            return follow(self.api.world, call.target.kind, pod, options)
        return _once(log_of(pod, options))

    async def _whole_log(self, call: _Call) -> Response:
        async with aclosing(self._log(call)) as chunks:
            body = b"".join([chunk async for chunk in chunks])
        return Response(200, {"content-type": _PLAIN}, body)

    def _log_options(self, call: _Call) -> LogOptions:
        self._require_part(call)
        if call.request.method != "GET":
            raise status.method_not_allowed()
        return log_options(call.query, now=self.api.world.clock.now())

    def _get(self, call: _Call) -> Response:
        obj = self.api.read(call.operation(self._reader(call)))
        return self._shown(call, obj)

    def _list(self, call: _Call) -> Response:
        require_verb(call.operation(self._reader(call)), "list")
        accepted = accepted_of(call.headers.get("accept", ""))
        options = list_options(call.query)
        kind = call.target.kind
        listing = self.api.list(kind.resource, namespace=call.target.namespace, options=options)
        shown = list_as(
            kind,
            listing,
            accepted.form,
            include=call.query.text("includeObject"),
            now=self.api.world.clock.now(),
        )
        return json_response(
            shown,
            media=accepted.media,
            warnings=call.warnings,
            is_pretty=call.query.flag("pretty"),
        )

    def _reader(self, call: _Call) -> Caller:
        user = call.user
        return Caller(user=user.name, groups=user.groups, uid=user.uid, extra=user.extra)

    # Writes

    async def _create(self, call: _Call) -> Response:
        kind = call.target.kind
        is_place = bool(call.target.subresource) is bool(call.target.name)
        if not is_place or (kind.resource.namespaced and call.target.namespace is None):
            raise status.method_not_allowed()
        operation = self._writing(call, "CreateOptions")
        require_verb(operation, "create")
        body = self._body(call, operation)
        created = await self.api.create_in(operation, body)
        is_stored = created.get("kind") != "Status"
        return self._shown(call, created, code=201, is_plain=not is_stored)

    async def _update(self, call: _Call) -> Response:
        operation = self._writing(call, "UpdateOptions")
        require_verb(operation, "update")
        was_there = self.api.world.store.get(operation.key) is not None
        updated = await self.api.update_in(operation, self._body(call, operation))
        return self._shown(call, updated, code=200 if was_there else 201)

    async def _patch(self, call: _Call) -> Response:
        patch_type = parsing.patch_type_of(call.request.content_type, call.target.kind)
        options = write_options(call.query, "PatchOptions", patch_type=patch_type)
        operation = self._writing(call, "PatchOptions", patch_type=patch_type)
        require_verb(operation, "patch")
        body = parsing.patch_of(call.body, patch_type)
        patched, is_new = await self.api.patch_in(
            operation, body, patch_type=patch_type, force=bool(options.force)
        )
        return self._shown(call, patched, code=201 if is_new else 200)

    async def _delete(self, call: _Call) -> Response:
        require_verb(call.operation(self._reader(call)), "delete")
        options, is_dry = delete_options(call.query, self._options_body(call))
        operation = call.operation(self._deleter(call, is_dry), options={})
        deleted = await self.api.delete_in(operation, options)
        answer = deletion_answer(operation, deleted)
        is_plain = answer.get("kind") == "Status"
        return self._shown(call, answer, is_plain=is_plain)

    async def _delete_collection(self, call: _Call) -> Response:
        require_verb(call.operation(self._reader(call)), "deletecollection")
        options, is_dry = delete_options(call.query, self._options_body(call))
        operation = call.operation(self._deleter(call, is_dry))
        chosen = ListOptions(
            label_selector=call.query.text("labelSelector"),
            field_selector=call.query.text("fieldSelector"),
        )
        listing = self.api.list(
            call.target.kind.resource, namespace=call.target.namespace, options=chosen
        )
        await self.api.delete_collection_in(operation, call.target.namespace, chosen, options)
        shown = list_as(call.target.kind, listing, "", include="", now=self.api.world.clock.now())
        return json_response(shown, warnings=call.warnings)

    # Parts

    def _writing(self, call: _Call, kind: str, *, patch_type: Any = None) -> Operation:
        options = write_options(call.query, kind, patch_type=patch_type)
        caller = Caller(
            user=call.user.name,
            groups=call.user.groups,
            uid=call.user.uid,
            extra=call.user.extra,
            field_manager=options.field_manager or _agent(call.headers),
            dry_run=options.dry_run,
            field_validation=options.field_validation,
        )
        said: JsonObject = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
        if options.dry_run:
            said["dryRun"] = ["All"]
        if call.query.text("fieldManager"):
            said["fieldManager"] = options.field_manager
        if call.query.text("fieldValidation"):
            said["fieldValidation"] = options.field_validation
        if options.force is not None:
            said["force"] = options.force
        return call.operation(caller, options=said)

    def _deleter(self, call: _Call, is_dry: bool) -> Caller:
        return replace(self._reader(call), dry_run=is_dry)

    def _body(self, call: _Call, operation: Operation) -> JsonObject:
        kind = call.target.kind
        body = parsing.object_of(call.body, call.request.content_type, kind)
        if operation.caller.field_validation != "Ignore":
            operation.duplicates = parsing.duplicate_fields(call.body)
        return body

    def _options_body(self, call: _Call) -> JsonObject | None:
        if not call.body:
            return None
        body = parsing.options_of(call.body, call.request.content_type)
        require_option_types(body)
        return body

    def _shown(
        self, call: _Call, obj: JsonObject, *, code: int = 200, is_plain: bool = False
    ) -> Response:
        accepted = accepted_of(call.headers.get("accept", ""))
        is_other = call.target.subresource == "scale" or is_plain
        shown = obj
        if accepted.form and not is_other:
            shown = object_as(
                call.target.kind,
                obj,
                accepted.form,
                include=call.query.text("includeObject"),
                now=self.api.world.clock.now(),
            )
        return json_response(
            shown,
            code=code,
            media=accepted.media,
            warnings=call.warnings,
            is_pretty=call.query.flag("pretty"),
        )


def _is_watch(call: _Call) -> bool:
    """On the path of one object the word is passed over, as the real server does."""
    is_collection = not call.target.name
    return call.request.method == "GET" and is_collection and call.query.flag("watch")


def _agent(headers: Headers) -> str:
    """The program's name, which owns fields for want of a better name."""
    return headers.get("user-agent", "").partition("/")[0] or "unknown"


async def _only(line: bytes) -> AsyncGenerator[bytes]:
    yield line


async def _lines(watch: StoreWatch, writer: EventWriter) -> AsyncGenerator[bytes]:
    async for event in watch:
        yield writer.line(event)


async def _once(body: bytes) -> AsyncGenerator[bytes]:
    yield body
