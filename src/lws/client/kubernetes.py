"""The API server's verbs as methods: a builder, the transport, the answer decoded.

Whoever decodes into views of their own takes `request_bytes` and `watch_lines`; the others get
plain objects.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field

from lws.client import requests
from lws.client.errors import Expired
from lws.client.logs import LogLine, LogSplitter, read_line
from lws.client.requests import PAGE_SIZE, Body, PatchType, Propagation, Request
from lws.client.resources import Resource
from lws.client.responses import JsonObject, Response, decode_object, error_of
from lws.client.transport import Transport
from lws.client.watch import EventType, LineSplitter, WatchEvent, decode_event, error_of_event


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a collection, or all of it if `continue_token` is empty."""

    items: list[JsonObject] = field(default_factory=list)
    resource_version: str = ""
    continue_token: str = ""
    remaining_items: int = 0


class KubernetesClient:
    """Thin: knows no kind, keeps no state, retries nothing; raises `lws.client.errors`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def raw(self, request: Request) -> Response:
        """The answer to any request, if it is a success."""
        response = await self._transport.send(request)
        if not response.is_success:
            raise error_of(response, request)
        return response

    async def request_bytes(self, request: Request) -> bytes:
        """The body of the answer, undecoded."""
        return (await self.raw(request)).body

    async def request_object(self, request: Request) -> JsonObject:
        """The body of the answer as plain objects."""
        return decode_object(await self.request_bytes(request))

    @asynccontextmanager
    async def watch_lines(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The lines of a watch, one event each, ERROR events too. A last line without its end is
        dropped: the watch that follows brings the event again."""
        async with self._transport.stream(request) as chunks, aclosing(_lines(chunks)) as lines:
            yield lines

    @asynccontextmanager
    async def log_lines(self, request: Request) -> AsyncGenerator[AsyncIterator[LogLine]]:
        """The lines of a container's log (`requests.pod_log`), the last one also without its
        end."""
        async with self._transport.stream(request) as chunks, aclosing(_logged(chunks)) as lines:
            yield lines

    async def get(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        name: str,
        subresource: str | None = None,
    ) -> JsonObject:
        """One object."""
        return await self.request_object(
            requests.get(resource, namespace=namespace, name=name, subresource=subresource)
        )

    async def list_page(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int | None = PAGE_SIZE,
        continue_token: str | None = None,
        resource_version: str | None = None,
        resource_version_match: str | None = None,
    ) -> Page:
        """One page of a collection."""
        request = requests.list_page(
            resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            limit=limit,
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
        )
        return _page(await self.request_object(request))

    async def list_all(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE_SIZE,
    ) -> Page:
        """A whole collection, read in pages that are all of one moment.

        When the moment expires between two pages, it is read again in one piece, which cannot.
        """
        pages: list[Page] = []
        page_limit: int | None = limit
        while not pages or pages[-1].continue_token:
            try:
                page = await self.list_page(
                    resource,
                    namespace=namespace,
                    label_selector=label_selector,
                    field_selector=field_selector,
                    limit=page_limit,
                    continue_token=pages[-1].continue_token if pages else None,
                )
            except Expired:
                if not pages:
                    raise
                pages, page_limit = [], None
            else:
                pages.append(page)
        return Page([item for page in pages for item in page.items], pages[-1].resource_version)

    async def create(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        body: Body,
        field_manager: str | None = None,
        dry_run: bool = False,
        subresource: str | None = None,
        name: str | None = None,
    ) -> JsonObject:
        """Make an object."""
        request = requests.create(
            resource,
            namespace=namespace,
            body=body,
            field_manager=field_manager,
            dry_run=dry_run,
            subresource=subresource,
            name=name,
        )
        return await self.request_object(request)

    async def replace(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        name: str,
        body: Body,
        field_manager: str | None = None,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> JsonObject:
        """Put a whole object in the place of another."""
        request = requests.replace(
            resource,
            namespace=namespace,
            name=name,
            body=body,
            field_manager=field_manager,
            dry_run=dry_run,
            subresource=subresource,
        )
        return await self.request_object(request)

    async def patch(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        name: str,
        body: Body,
        patch_type: PatchType,
        field_manager: str | None = None,
        force: bool | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
    ) -> JsonObject:
        """Change an object."""
        request = requests.patch(
            resource,
            namespace=namespace,
            name=name,
            body=body,
            patch_type=patch_type,
            field_manager=field_manager,
            force=force,
            subresource=subresource,
            dry_run=dry_run,
        )
        return await self.request_object(request)

    async def apply(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        name: str,
        body: Body,
        field_manager: str,
        force: bool = False,
        subresource: str | None = None,
        dry_run: bool = False,
    ) -> JsonObject:
        """Make or change an object so that the fields given are as given."""
        request = requests.apply(
            resource,
            namespace=namespace,
            name=name,
            body=body,
            field_manager=field_manager,
            force=force,
            subresource=subresource,
            dry_run=dry_run,
        )
        return await self.request_object(request)

    async def delete(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        name: str,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
    ) -> JsonObject:
        """End an object; the answer is its last state, or a Status."""
        request = requests.delete(
            resource,
            namespace=namespace,
            name=name,
            propagation=propagation,
            uid=uid,
            resource_version=resource_version,
            grace_period_seconds=grace_period_seconds,
            dry_run=dry_run,
        )
        return await self.request_object(request)

    def watch(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        resource_version: str,
        allow_bookmarks: bool = True,
        timeout_seconds: int | None = None,
        send_initial_events: bool = False,
        resource_version_match: str | None = None,
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """Changes until the server ends the watch; an ERROR event is raised as its error."""
        request = requests.watch(
            resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            resource_version=resource_version,
            allow_bookmarks=allow_bookmarks,
            timeout_seconds=timeout_seconds,
            send_initial_events=send_initial_events,
            resource_version_match=resource_version_match,
        )
        return self._watch_events(request)

    @asynccontextmanager
    async def _watch_events(self, request: Request) -> AsyncGenerator[AsyncIterator[WatchEvent]]:
        async with self.watch_lines(request) as lines, aclosing(_events(lines, request)) as events:
            yield events


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    splitter = LineSplitter()
    async for chunk in chunks:
        for line in splitter.feed(chunk):
            yield line


async def _logged(chunks: AsyncIterator[bytes]) -> AsyncGenerator[LogLine]:
    splitter = LogSplitter()
    async for chunk in chunks:
        for line in splitter.feed(chunk):
            yield read_line(line)
    for line in splitter.rest():
        yield read_line(line)


async def _events(lines: AsyncIterator[bytes], request: Request) -> AsyncGenerator[WatchEvent]:
    async for line in lines:
        event = decode_event(line)
        if event.type is EventType.ERROR:
            raise error_of_event(event, request)
        yield event


def _page(body: JsonObject) -> Page:
    metadata = body.get("metadata") or {}
    return Page(
        items=body.get("items") or [],
        resource_version=metadata.get("resourceVersion", ""),
        continue_token=metadata.get("continue", ""),
        remaining_items=metadata.get("remainingItemCount", 0),
    )
