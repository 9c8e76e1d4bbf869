"""Paths that are no resource's: health, version, discovery, OpenAPI."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from lws.client.requests import Request
from lws.client.responses import Response
from lws.sandbox.schema.openapi import (
    OPENAPI_PROTOBUF,
    ServedKind,
    encoded_v2,
    is_protobuf_asked_for,
    openapi_v2,
    openapi_v3,
    openapi_v3_index,
)
from lws.sandbox.server import discovery, status
from lws.sandbox.server.authentication.accounts import ISSUER
from lws.sandbox.server.definitions import DEFINITIONS
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.presentation import json_response

JsonObject = dict[str, Any]
Headers = Mapping[str, str]

_HEALTH = ("healthz", "livez", "readyz")
_ANY_METHOD = (*_HEALTH, "apis")
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


_ISSUER = {
    "issuer": ISSUER,
    "jwks_uri": "",
    "response_types_supported": ["id_token"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["ES256"],
}


class PlainPaths:
    """Answers what is not about objects."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._documents: dict[str, tuple[int, bytes]] = {}

    def answer(self, request: Request, headers: Headers) -> Response:
        """Any path; 404 for what is not there."""
        first = request.path.partition("?")[0].strip("/").partition("/")[0]
        if request.method not in ("GET", "HEAD") and first not in _ANY_METHOD:
            if request.path.startswith(("/api/", "/apis/")):
                return self._missing(request.path)
            raise status.method_not_allowed()
        parts = [part for part in request.path.split("/") if part]
        accept = headers.get("accept", "")
        match parts:
            case []:
                return json_response({"paths": self._paths()})
            case ["version"]:
                return json_response(discovery.version())
            case [("healthz" | "livez" | "readyz") as name, *rest] if rest in ([], ["ping"]):
                return self._health(name, request)
            case ["api"] | ["apis"]:
                return self._roots(parts[0], accept)
            case ["openapi", *rest]:
                return self._openapi(rest, accept)
            case ["openid", "v1", "jwks"]:
                return self._issuer(self._world.accounts.public_keys(), "application/jwk-set+json")
            case [".well-known", "openid-configuration"]:
                keys = f"https://{self._world.server_address}/openid/v1/jwks"
                return self._issuer({**_ISSUER, "jwks_uri": keys}, "application/json")
        return self._resources(parts, request.path)

    def _issuer(self, value: JsonObject, media: str) -> Response:
        """For whoever wants to look at tokens of service accounts himself."""
        headers = {"content-type": media, "cache-control": "public, max-age=3600"}
        return Response(200, headers, orjson.dumps(value))

    def _resources(self, parts: list[str], path: str) -> Response:
        registry = self._world.registry
        found: JsonObject | None = None
        match parts:
            case ["api", version]:
                found = discovery.resource_list(registry, "", version)
            case ["apis", group]:
                found = discovery.group(registry, group)
            case ["apis", group, version]:
                found = discovery.resource_list(registry, group, version)
        return json_response(found) if found is not None else self._missing(path)

    def _missing(self, path: str) -> Response:
        """A Status where the group is known; elsewhere the answer of a web server."""
        parts = path.removeprefix("/").strip("/").split("/") if path[:2] != "//" else [""]
        groups = {kind.resource.group for kind in self._world.registry.kinds()}
        if parts[0] in ("api", "version") or (
            parts[0] == "apis" and len(parts) > 1 and parts[1] in groups
        ):
            raise status.no_such_path()
        headers = {"content-type": "text/plain; charset=utf-8"}
        return Response(404, headers, b"404 page not found\n")

    def _paths(self) -> list[str]:
        """All that could be asked for."""
        versions = {kind.resource.api_version for kind in self._world.registry.kinds()}
        groups = {one for one in versions if "/" in one}
        names = {"/api", "/api/v1", "/apis", "/openapi/v2", "/openapi/v3", "/version"}
        names |= {f"/{name}" for name in _HEALTH}
        names |= {"/.well-known/openid-configuration", "/openid/v1/jwks"}
        names |= {f"/apis/{one}" for one in groups}
        names |= {f"/apis/{one.partition('/')[0]}" for one in groups}
        return sorted(names)

    def _health(self, name: str, request: Request) -> Response:
        headers = {"content-type": "text/plain; charset=utf-8"}
        if any(key == "verbose" for key, _ in request.query):
            text = f"[+]ping ok\n[+]store ok\n{name} check passed\n"
            return Response(200, headers, text.encode())
        return Response(200, headers, b"ok")

    def _roots(self, root: str, accept: str) -> Response:
        registry = self._world.registry
        version = discovery.wants_aggregated(accept)
        if version:
            value = discovery.aggregated(registry, is_core=root == "api")
            value["apiVersion"] = f"apidiscovery.k8s.io/{version}"
            media = _AGGREGATED.replace("v=v2", f"v={version}")
            response = json_response(value)
            return Response(200, {**response.headers, "content-type": media}, response.body)
        if root == "api":
            return json_response(discovery.api_versions(self._world.server_address))
        return json_response(discovery.group_list(registry))

    def _openapi(self, rest: list[str], accept: str) -> Response:
        match rest:
            case ["v2"] if is_protobuf_asked_for(accept):
                body = self._kept("v2 in protobuf", lambda: encoded_v2(self._v2()))
                return Response(200, {"content-type": OPENAPI_PROTOBUF}, body)
            case ["v2"]:
                return self._json("v2", self._v2)
            case ["v3"]:
                return self._json(
                    "v3", lambda: openapi_v3_index(self._served(), self._definitions())
                )
            case ["v3", "api", version]:
                return self._v3("", version)
            case ["v3", "apis", group, version]:
                return self._v3(group, version)
        return self._missing("/" + "/".join(["openapi", *rest]))

    def _v2(self) -> JsonObject:
        return openapi_v2(self._served(), self._definitions())

    def _v3(self, group: str, version: str) -> Response:
        served = [one for one in self._served() if (one.group, one.version) == (group, version)]
        if not served:
            return self._missing(f"/openapi/v3/apis/{group}/{version}")
        return self._json(
            f"v3/{group}/{version}",
            lambda: openapi_v3(group, version, served, self._definitions()),
        )

    def _json(self, name: str, make: Callable[[], JsonObject]) -> Response:
        body = self._kept(name, lambda: orjson.dumps(make()))
        return Response(200, {"content-type": "application/json"}, body)

    def _kept(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Made once until the kinds change: it takes a moment."""
        generation = self._world.registry.generation
        kept = self._documents.get(name)
        if kept is None or kept[0] != generation:
            kept = self._documents[name] = (generation, make())
        return kept[1]

    def _definitions(self) -> list[JsonObject]:
        return [obj for _, obj in self._world.store.list(DEFINITIONS).items]

    def _served(self) -> list[ServedKind]:
        return [_served_kind(kind) for kind in self._world.registry.kinds()]


def _served_kind(kind: Kind) -> ServedKind:
    resource = kind.resource
    return ServedKind(
        group=resource.group,
        version=resource.version,
        kind=resource.kind,
        plural=resource.plural,
        namespaced=resource.namespaced,
        subresources=tuple(kind.subresources),
    )
