"""What a refusal means."""

import orjson
import pytest

from lws.client import errors, requests
from lws.client.resources import PODS
from lws.client.responses import (
    MESSAGE_CHARACTERS_MAX,
    Response,
    decode_object,
    decode_status,
    error_of,
    retry_after_of,
)


def refusal(code: int, reason: str = "", message: str = "", **details: object) -> Response:
    """An answer as the API server gives it."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details or None,
        "code": code,
    }
    return Response(code, {}, orjson.dumps(body))


@pytest.mark.parametrize(
    ("code", "reason", "expected", "group"),
    [
        (400, "BadRequest", errors.BadRequest, errors.TellUser),
        (401, "Unauthorized", errors.Unauthorized, errors.TellUser),
        (403, "Forbidden", errors.Forbidden, errors.TellUser),
        (404, "NotFound", errors.NotFound, errors.Normal),
        (405, "MethodNotAllowed", errors.Refused, errors.TellUser),
        (409, "AlreadyExists", errors.AlreadyExists, errors.Normal),
        (409, "Conflict", errors.Conflict, errors.Normal),
        (410, "Expired", errors.Expired, errors.Normal),
        (410, "Gone", errors.Expired, errors.Normal),
        (413, "RequestEntityTooLarge", errors.RequestEntityTooLarge, errors.TellUser),
        (415, "UnsupportedMediaType", errors.Refused, errors.TellUser),
        (422, "Invalid", errors.Invalid, errors.TellUser),
        (429, "TooManyRequests", errors.TooManyRequests, errors.Retryable),
        (500, "InternalError", errors.Unavailable, errors.Retryable),
        (502, "", errors.Unavailable, errors.Retryable),
        (503, "ServiceUnavailable", errors.Unavailable, errors.Retryable),
        (504, "Timeout", errors.Unavailable, errors.Retryable),
        (302, "", errors.Refused, errors.TellUser),
    ],
)
def test_each_answer_is_one_error_in_one_group(
    code: int, reason: str, expected: type[errors.ApiError], group: type[errors.ClientError]
) -> None:
    error = error_of(refusal(code, reason))
    assert type(error) is expected
    assert isinstance(error, group)
    assert (error.status, error.reason) == (code, reason)


def test_an_error_reads_as_request_code_reason_and_message() -> None:
    request = requests.get(PODS, namespace="n", name="p")
    error = error_of(refusal(404, "NotFound", 'pods "p" not found'), request)
    assert str(error) == 'GET /api/v1/namespaces/n/pods/p: 404 NotFound: pods "p" not found'


def test_the_fields_of_an_invalid_object_are_kept() -> None:
    causes = [
        {"reason": "FieldValueInvalid", "message": "must be positive", "field": "spec.replicas"},
        {"reason": "FieldValueRequired", "message": "Required value"},
    ]
    error = error_of(refusal(422, "Invalid", causes=causes))
    assert [str(cause) for cause in error.causes] == [
        "spec.replicas: must be positive",
        "Required value",
    ]
    assert error.causes[0].field == "spec.replicas"


def test_a_quota_is_told_from_missing_rights() -> None:
    quota = error_of(refusal(403, "Forbidden", 'pods "p" is forbidden: exceeded quota: q'))
    rights = error_of(refusal(403, "Forbidden", 'pods is forbidden: User "u" cannot list'))
    assert isinstance(quota, errors.Forbidden)
    assert isinstance(rights, errors.Forbidden)
    assert (quota.is_quota, rights.is_quota) == (True, False)


@pytest.mark.parametrize(
    "answer",
    [
        refusal(403, "Forbidden", "...", causes=[{"reason": "NamespaceTerminating"}]),
        refusal(403, "Forbidden", "... in namespace n because it is being terminated"),
    ],
)
def test_a_namespace_that_is_going_away_is_told_from_missing_rights(answer: Response) -> None:
    error = error_of(answer)
    assert isinstance(error, errors.Forbidden)
    assert error.is_namespace_terminating


def test_an_apply_conflict_is_told_from_a_stale_version() -> None:
    causes = [{"reason": "FieldManagerConflict", "message": "x", "field": ".spec.replicas"}]
    apply, stale = error_of(refusal(409, "Conflict", causes=causes)), error_of(refusal(409))
    assert isinstance(apply, errors.Conflict)
    assert isinstance(stale, errors.Conflict)
    assert (apply.is_apply_conflict, stale.is_apply_conflict) == (True, False)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("3", 3.0), ("0", 0.0), ("", None), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)],
)
def test_retry_after_is_a_number_of_seconds(header: str, expected: float | None) -> None:
    assert retry_after_of(Response(429, {"retry-after": header})) == expected


def test_the_header_goes_before_the_bodys_retry_after() -> None:
    answer = refusal(429, "TooManyRequests", retryAfterSeconds=7)
    assert error_of(answer).retry_after == 7
    with_header = Response(429, {"retry-after": "2"}, answer.body)
    assert error_of(with_header).retry_after == 2


@pytest.mark.parametrize(
    "body", [b"<html>no\n gateway</html>", b'{"kind":"Pod"}', b"\xff\xfe", b""]
)
def test_a_body_that_is_no_status_is_shown_as_it_is(body: bytes) -> None:
    error = error_of(Response(502, {}, body))
    assert isinstance(error, errors.Unavailable)
    assert "\n" not in str(error)
    assert decode_status(body) is None


def test_a_long_body_is_cut_for_display() -> None:
    error = error_of(Response(500, {}, b"x" * 1_000_000))
    assert len(str(error)) < MESSAGE_CHARACTERS_MAX + 100


def test_a_long_message_is_cut_for_display() -> None:
    error = error_of(refusal(422, "Invalid", "y" * 100_000))
    assert len(str(error)) < MESSAGE_CHARACTERS_MAX + 100
    assert "100000 characters" in str(error)


@pytest.mark.parametrize("body", [b"", b"[]", b'"x"', b"<html>", b'{"a":'])
def test_a_success_that_is_no_object_is_malformed(body: bytes) -> None:
    with pytest.raises(errors.MalformedAnswer, match="not "):
        decode_object(body)


def test_an_error_can_be_raised_with_a_message_only() -> None:
    assert str(errors.NotFound("gone")) == "404: gone"
    assert errors.TooManyRequests().status == 429
    assert str(errors.KubeconfigError("bad", file="f", field="users")) == "f: users: bad"


def test_nobody_makes_us_wait_for_longer_than_a_minute() -> None:
    refused = Response(503, {"retry-after": "86400"})
    assert error_of(refused).retry_after == 60
    assert retry_after_of(Response(503, {"retry-after": "9" * 400})) == 60
    assert error_of(refusal(429, "TooManyRequests", retryAfterSeconds=86400)).retry_after == 60
