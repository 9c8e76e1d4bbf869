"""`admission.k8s.io/v1 AdmissionReview`, as the API server sends it and expects it back."""

import base64
from dataclasses import dataclass

import orjson

from lws.admission.documents import JsonObject, child, text
from lws.admission.jsonpatch import Patch
from lws.admission.validation import FieldError

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"


class MalformedReview(Exception):
    """The body is no review that we understand; the message goes to the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What is asked."""

    uid: str
    group: str
    kind: str
    namespace: str
    operation: str
    subresource: str
    new: JsonObject
    old: JsonObject | None

    @property
    def is_write(self) -> bool:
        """Whether the object itself is created or updated."""
        return self.operation in ("CREATE", "UPDATE") and not self.subresource


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is answered: yes, perhaps with a change, or no, with the `status` that says why."""

    patch: Patch | None = None
    warnings: tuple[str, ...] = ()
    status: JsonObject | None = None


def decode(body: bytes) -> Review:
    """Read a review; MalformedReview says what is wrong with it."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedReview(f"the body is not JSON: {error}") from error
    version, kind = text(document, "apiVersion"), text(document, "kind")
    if (version, kind) != (API_VERSION, KIND):
        raise MalformedReview(f"expected {API_VERSION} {KIND}, got {version!r} {kind!r}")
    request = child(document, "request")
    uid = text(request, "uid")
    if not uid:
        raise MalformedReview("request.uid is missing")
    new = _object(request, "object")
    review = Review(
        uid=uid,
        group=text(child(request, "kind"), "group"),
        kind=text(child(request, "kind"), "kind"),
        namespace=text(request, "namespace"),
        operation=text(request, "operation"),
        subresource=text(request, "subResource"),
        new=new or {},
        old=_object(request, "oldObject"),
    )
    if review.is_write and new is None:
        raise MalformedReview("request.object is missing")
    return review


def encode(review: Review, answer: Answer) -> bytes:
    """The answer as the API server reads it."""
    response: JsonObject = {"uid": review.uid, "allowed": answer.status is None}
    if answer.status is not None:
        response["status"] = answer.status
    elif answer.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(answer.patch)).decode()
    if answer.warnings:
        response["warnings"] = answer.warnings
    return orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def invalid(review: Review, errors: tuple[FieldError, ...]) -> JsonObject:
    """`status` of an object whose fields are wrong: kubectl prints each cause with its path."""
    name = text(child(review.new, "metadata"), "name")
    kind = f"{review.kind}.{review.group}" if review.group else review.kind
    listed = ", ".join(str(error) for error in errors)
    causes = [
        {"reason": error.kind, "message": error.explanation, "field": error.path}
        for error in errors
    ]
    details = {"name": name, "group": review.group, "kind": review.kind, "causes": causes}
    message = f'{kind} "{name}" is invalid: {listed}'
    return {**status(code=422, reason="Invalid", message=message), "details": details}


def status(*, code: int, reason: str, message: str) -> JsonObject:
    """A `metav1.Status` of a failure."""
    return {"status": "Failure", "code": code, "reason": reason, "message": message}


def _object(request: JsonObject, key: str) -> JsonObject | None:
    value = request.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise MalformedReview(f"request.{key} must be an object")
