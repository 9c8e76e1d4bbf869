"""Sends writes to a real API server and compares its answers with ours."""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.kube import ApiError, Kube, Resource
from lws.base.times import parse_time
from lws.sandbox.patch import (
    ApplyConflict,
    PatchError,
    applied,
    json_patch,
    merge_patch,
    strategic_merge_patch,
    updated,
)
from lws.sandbox.patch.managed import with_old_times
from lws.sandbox.patch.resets import reset_paths
from lws.sandbox.patch.scaling import scale_applied, scaled
from lws.sandbox.schema import Schema

Json = dict[str, Any]
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
_ANSWERS = 20
_VOLATILE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@dataclass
class Judge:
    """One kind of object in one namespace.

    `late`: paths that the server fills in after it has noted who owns what; they are nobody's if
    the request does not say them.
    """

    kube: Kube
    resource: Resource
    namespace: str
    schema: Schema
    late: tuple[str, ...] = ()
    has_status: bool = True
    told: list[str] = field(default_factory=list)

    # Writes

    def create(self, body: Json, *, manager: str) -> Json | None:
        """POST; the object, or None if it was refused."""
        self._tell("create", body, manager)
        answer = self._send("POST", self._path(), body, manager=manager)
        if isinstance(answer, ApiError):
            return None
        seen = self._before_late(answer, said=body)
        new = _with_managed(seen, body["metadata"].get("managedFields", ...))
        self._same_managers(self._updated(None, new, answer, manager), answer)
        return answer

    def replace(self, body: Json, *, manager: str, subresource: str = "") -> Json | None:
        """PUT; the object, or None if it was refused."""
        self._tell(f"replace {subresource}", body, manager)
        name = body["metadata"]["name"]
        live = self.get(name)
        answer = self._send("PUT", self._path(name, subresource), body, manager=manager)
        if isinstance(answer, ApiError):
            return None
        new = _with_managed(answer, body["metadata"].get("managedFields", ...))
        mine = self._updated(live, new, answer, manager, subresource)
        self._same_managers(mine, answer)
        return answer

    def patch(
        self, name: str, body: Any, *, kind: str, manager: str, subresource: str = ""
    ) -> Json | None:
        """PATCH of the three simple kinds; the object, or None if it was refused."""
        self._tell(f"{kind} {subresource}", body, manager)
        live = self.get(name)
        before = copy.deepcopy((live, body))
        try:
            patched = self._patched(live, body, kind)
        except PatchError as problem:
            self._same_refusal(problem, name, body, kind=kind, manager=manager)
            return None
        finally:
            assert before == (live, body), "inputs were changed"
        path = self._path(name, subresource)
        expected = self._send("PUT", path, patched, manager=manager, dry=True)
        answer = self._send("PATCH", path, body, manager=manager, content_type=kind)
        self._same_outcome(expected, answer)
        if isinstance(answer, ApiError):
            return None
        metadata = patched.get("metadata") or {}
        new = _with_managed(answer, metadata.get("managedFields", ...))
        if metadata.get("ownerReferences"):  # the server drops doubles of a patch only afterwards
            new["metadata"]["ownerReferences"] = metadata["ownerReferences"]
        mine = self._updated(live, new, answer, manager, subresource)
        self._same_managers(mine, answer)
        return answer

    def apply(
        self, body: Json, *, manager: str, force: bool = False, subresource: str = ""
    ) -> Json | None:
        """Server-side apply; the object, or None if it was refused."""
        self._tell(f"apply {subresource} force={force}", body, manager)
        name = body["metadata"]["name"]
        live = self.find(name)
        before = copy.deepcopy((live, body))
        path = self._path(name, subresource)
        try:
            mine = self._applied(live, body, manager, force, subresource, now=0)
        except (ApplyConflict, PatchError) as problem:
            self._same_apply_refusal(problem, path, body, manager, force)
            return None
        assert before == (live, body), "inputs were changed"
        expected = self._dry(mine, live, path, manager)
        answer = self._apply(path, body, manager, force)
        if _is_of_nulls(mine, answer):
            return None
        self._same_outcome(expected, answer)
        if isinstance(answer, ApiError):
            return None
        mine = self._applied(live, body, manager, force, subresource, now=_newest(answer))
        if live is not None:
            managed = mine["metadata"].get("managedFields")
            mine = with_old_times(_with_managed(answer, managed), live)
        self._same_managers(mine, answer)
        return answer

    def scale(self, name: str, replicas: int, *, manager: str) -> Json | None:
        """A merge patch of the scale."""
        body = {"spec": {"replicas": replicas}}
        self._tell("scale", body, manager)
        live, old = self.get(name), self.get(name, "scale")
        path = self._path(name, "scale")
        answer = self._send("PATCH", path, body, manager=manager, content_type=MERGE)
        if isinstance(answer, ApiError):
            return None
        managed = scaled(**self._of_scale(live, old, manager, name), new=answer)
        self._same_scaling(live, managed, self.get(name))
        return answer

    def apply_scale(
        self, name: str, replicas: int, *, manager: str, force: bool = False
    ) -> Json | None:
        """Server-side apply of the scale."""
        body: Json = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": name},
            "spec": {"replicas": replicas},
        }
        self._tell(f"apply scale force={force}", body, manager)
        live, old = self.get(name), self.get(name, "scale")
        given: Json = {"applied": body, "force": force, "is_custom": self._is_custom}
        path = self._path(name, "scale")
        try:
            scale_applied(**self._of_scale(live, old, manager, name), **given)
        except (ApplyConflict, PatchError) as problem:
            self._same_apply_refusal(problem, path, body, manager, force)
            return None
        answer = self._apply(path, body, manager, force)
        if isinstance(answer, ApiError):
            raise AssertionError(self._story(f"refused: {answer}"))
        made, managed = scale_applied(**self._of_scale(live, old, manager, name), **given)
        self._same_scaling(live, managed, self.get(name))
        self._require_same(made["spec"], answer["spec"] or {"replicas": 0}, "scales differ")
        return answer

    @property
    def _is_custom(self) -> bool:
        return "." in self.resource.group_version

    def _same_scaling(self, live: Json, managed: list[Json], after: Json) -> None:
        mine = with_old_times(_with_managed(after, managed or None), live)
        self._same_managers(mine, after)

    def _of_scale(self, live: Json, old: Json, manager: str, name: str) -> Json:
        return {
            "live": live,
            "old": old,
            "path": ("spec", "replicas"),
            "manager": manager,
            "api_version": self.resource.group_version,
            "now": _newest(self.get(name)),
        }

    def get(self, name: str, subresource: str = "") -> Json:
        """The live object."""
        return self.kube.request("GET", self._path(name, subresource))

    def find(self, name: str) -> Json | None:
        """The live object, or None."""
        try:
            return self.get(name)
        except ApiError as problem:
            if problem.status == 404:
                return None
            raise

    # What we say

    def _updated(
        self, old: Json | None, new: Json, answer: Json, manager: str, subresource: str = ""
    ) -> Json:
        made = updated(
            old=old,
            new=new,
            schema=self.schema,
            manager=manager,
            api_version=self.resource.group_version,
            subresource=subresource,
            now=_newest(answer),
            reset=self._reset(subresource),
        )
        return made if old is None else with_old_times(made, old)

    def ours(self, body: Json, *, manager: str) -> Json:
        """What we make of an apply."""
        live = self.find(body["metadata"]["name"])
        return self._applied(live, body, manager, False, "", now=0)

    def _applied(
        self, live: Json | None, body: Json, manager: str, force: bool, subresource: str, now: float
    ) -> Json:
        return applied(
            live=live,
            applied=body,
            schema=self.schema,
            manager=manager,
            api_version=self.resource.group_version,
            subresource=subresource,
            now=now,
            force=force,
            reset=self._reset(subresource),
        )

    def _reset(self, subresource: str) -> tuple[tuple[str, ...], ...]:
        return reset_paths(
            api_version=self.resource.group_version,
            kind=self.resource.kind,
            subresource=subresource,
            has_status=self.has_status,
            is_custom=self._is_custom,
        )

    def _patched(self, live: Json, body: Any, kind: str) -> Json:
        if kind == JSON_PATCH:
            return json_patch(live, body)  # type: ignore[no-any-return]
        if kind == MERGE:
            return merge_patch(live, body)  # type: ignore[no-any-return]
        return strategic_merge_patch(live, body, self.schema)

    # What the server says

    def _path(self, name: str = "", subresource: str = "") -> str:
        return self.resource.path(self.namespace, name, subresource)

    def _send(
        self,
        method: str,
        path: str,
        body: object,
        *,
        manager: str,
        dry: bool = False,
        content_type: str = "application/json",
    ) -> Json | ApiError:
        query = {"fieldManager": manager, **({"dryRun": "All"} if dry else {})}
        try:
            return self.kube.request(method, path, body, query=query, content_type=content_type)
        except ApiError as problem:
            return problem

    def _apply(self, path: str, body: Json, manager: str, force: bool) -> Json | ApiError:
        query = {"fieldManager": manager, "force": str(force).lower()}
        try:
            return self.kube.request("PATCH", path, body, query=query, content_type=APPLY)
        except ApiError as problem:
            return problem

    def _dry(self, mine: Json, live: Json | None, path: str, manager: str) -> Json | ApiError:
        body = _with_managed(mine, ...)
        if live is None:
            return self._send("POST", self._path(), body, manager=manager, dry=True)
        return self._send("PUT", path, body, manager=manager, dry=True)

    def _before_late(self, answer: Json, *, said: Json) -> Json:
        result = copy.deepcopy(answer)
        for path in self.late:
            *above, last = path.split(".")
            here, sent = result, said
            for name in above:
                here, sent = here.get(name, {}), sent.get(name, {}) or {}
            if not sent.get(last):
                here.pop(last, None)
        return result

    # Comparisons

    def _same_managers(self, mine: Json, theirs: Json) -> None:
        ours = mine["metadata"].get("managedFields")
        real = theirs["metadata"].get("managedFields") or None
        self._require_same(ours, real, "managedFields differ")

    def _same_outcome(self, expected: Json | ApiError, answer: Json | ApiError) -> None:
        if isinstance(answer, ApiError) or isinstance(expected, ApiError):
            if not _is_of_decoding(expected, answer):
                self._require_same(_refusal(expected), _refusal(answer), "outcomes differ")
        else:
            self._require_same(self._settled(expected), self._settled(answer), "results differ")

    def _settled(self, obj: Json) -> Json:
        result = self._before_late(obj, said={})
        result["metadata"] = {
            name: value for name, value in obj["metadata"].items() if name not in _VOLATILE
        }
        return result

    def _same_refusal(
        self, mine: PatchError, name: str, body: Any, *, kind: str, manager: str
    ) -> None:
        """Of several faults of a patch the server finds one or another first, by chance."""
        ours: list[int | str] = [mine.code, mine.reason, mine.message]
        theirs: list[int | str] = []
        for _ in range(_ANSWERS if kind == STRATEGIC else 1):
            path = self._path(name)
            answer = self._send("PATCH", path, body, manager=manager, content_type=kind)
            theirs = _status(answer)
            if ours == theirs:
                return
        self._require_same(ours, theirs, f"refusals differ; ours: {mine.detail}")

    def _same_apply_refusal(
        self, mine: ApplyConflict | PatchError, path: str, body: Json, manager: str, force: bool
    ) -> None:
        theirs = self._apply(path, body, manager, force)
        if isinstance(mine, PatchError):
            self._require_same(_unordered(mine), _unordered(theirs), "refusals differ")
            return
        causes = [
            {"reason": "FieldManagerConflict", "message": each.message, "field": each.path}
            for each in mine.conflicts
        ]
        is_one = len({each.manager for each in mine.conflicts}) == 1
        causes.sort(key=lambda each: each["message"])
        ours = {"message": mine.message if is_one else "", "causes": causes}
        real: Json = {"message": "", "causes": []}
        if isinstance(theirs, ApiError) and theirs.status == 409 and theirs.reason == "Conflict":
            found = sorted(theirs.body["details"]["causes"], key=lambda each: each["message"])
            real = {"message": theirs.message if is_one else "", "causes": found}
        self._require_same(ours, real, "conflicts differ")

    # The story so far, for whoever has to look into it

    def _story(self, complaint: str) -> str:
        return "\n".join([complaint, *self.told[-12:]])

    def _tell(self, what: str, body: Any, manager: str) -> None:
        if isinstance(body, dict) and "managedFields" in (body.get("metadata") or {}):
            body = _with_managed(body, json.dumps(body["metadata"]["managedFields"])[:80])
        self.told.append(f"{manager}: {what}: {json.dumps(body)}")

    def _require_same(self, ours: object, theirs: object, complaint: str) -> None:
        if ours != theirs:
            lines = difflib.unified_diff(
                _lines(theirs), _lines(ours), "theirs", "ours", lineterm=""
            )
            raise AssertionError(self._story("\n".join([complaint, *lines])))


def _with_managed(obj: Json, managed: Any) -> Json:
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    if managed is not ...:
        metadata["managedFields"] = managed
    return {**obj, "metadata": metadata}


def _newest(answer: Json) -> float:
    times = [each.get("time") for each in answer["metadata"].get("managedFields", [])]
    return max((parse_time(each) for each in times if each), default=0.0)


def _lines(value: object) -> list[str]:
    return json.dumps(value, indent=1, sort_keys=True).splitlines()


def _status(answer: Json | ApiError) -> list[int | str]:
    if not isinstance(answer, ApiError):
        return [200, "", "accepted"]
    return [answer.status, answer.reason, answer.message]


def _unordered(problem: PatchError | Json | ApiError) -> list[int | str]:
    """Of several complaints the server tells some, in any order."""
    if isinstance(problem, PatchError):
        code, reason, message = str(problem.code), problem.reason, problem.message
    else:
        code, reason, message = map(str, _status(problem))
    return [int(code), reason, *message.partition("errors:")[:2]]


def _is_of_nulls(mine: Json, answer: Json | ApiError) -> bool:
    """What loses its last member is null; the server refuses that to an apply, a PUT drops it."""
    if not isinstance(answer, ApiError) or answer.status != 422:
        return False
    return any(_at(mine, each["field"]) is None for each in answer.body["details"]["causes"])


def _at(obj: Json, path: str) -> Any:
    here: Any = obj
    for name in re.findall(r"[^.\[\]]+", path):
        if isinstance(here, list) and name.isdigit():
            here = here[int(name)]
        else:
            here = here.get(name, ...) if isinstance(here, dict) else ...
    return here


def _is_of_decoding(expected: Json | ApiError, answer: Json | ApiError) -> bool:
    """A result of no sense: the server says so in another way to a PUT than to a PATCH."""
    if not isinstance(expected, ApiError) or not isinstance(answer, ApiError):
        return False
    causes = answer.body.get("details", {}).get("causes", [])
    return expected.status == 400 and [each.get("field") for each in causes] == ["patch"]


def _refusal(answer: Json | ApiError) -> Mapping[str, Any]:
    if not isinstance(answer, ApiError):
        return {"accepted": answer}
    causes = answer.body.get("details", {}).get("causes", [])
    return {"status": answer.status, "causes": sorted(map(json.dumps, causes))}
