"""`rolloutStrategy`: its type, the partition and the two budgets (api.md section 2)."""

from lws.admission import defaulting
from lws.admission.validation.counts import REPLICAS_MAX, replicas_of
from lws.admission.validation.places import Place
from lws.admission.validation.verdict import Cause
from lws.api.intorpercent import IntOrPercent, is_percent, resolve

_PERCENT_MAX = 100


def check_rollout_strategy(
    spec: Place, *, may_come_to_zero: bool = False, is_scaled: bool = False
) -> None:
    """Every rule of it; `spec` is a LeaderWorkerSet's.

    `may_come_to_zero`: the percentages were judged with the number that its replicas are on the
    way to, and what they come to on the way counts as one unavailable. `is_scaled`: a scaler says
    how many replicas there are, so that a percentage may come to anything but of nothing.
    """
    strategy = spec["rolloutStrategy"]
    strategy["type"].one_of([defaulting.ROLLING_UPDATE], default=defaulting.ROLLING_UPDATE)
    configuration = strategy["rollingUpdateConfiguration"]
    configuration["partition"].bounded(0, default=0)
    unavailable = max_unavailable(spec)
    surge = max_surge(spec)
    replicas = replicas_of(spec)
    if unavailable is None or surge is None or not replicas or may_come_to_zero:
        return
    total = REPLICAS_MAX if is_scaled else replicas
    if (
        resolve(unavailable, total=total, round_up=False)
        == 0
        == resolve(surge, total=total, round_up=True)
    ):
        configuration["maxUnavailable"].error(
            Cause.INVALID,
            f"comes out as 0, and so does maxSurge ({surge}): no group could ever be updated,"
            " make one of them larger",
        )


def max_unavailable(spec: Place) -> IntOrPercent | None:
    """The budget, None if it is not a valid one."""
    place = spec["rolloutStrategy"]["rollingUpdateConfiguration"]["maxUnavailable"]
    return _budget(place, default=defaulting.MAX_UNAVAILABLE)


def max_surge(spec: Place) -> IntOrPercent | None:
    """The budget, None if it is not a valid one."""
    place = spec["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"]
    return _budget(place, default=defaulting.MAX_SURGE)


def _budget(place: Place, *, default: int) -> IntOrPercent | None:
    value = place.value
    if not isinstance(value, str):
        return _number(place, default=default)
    if not is_percent(value):
        place.error(Cause.INVALID, "must be a number or a percentage such as 25%")
        return None
    # The digits are counted first: Python refuses to read thousands of them.
    digits = value[:-1].lstrip("0")
    if len(digits) > len(str(_PERCENT_MAX)) or int(digits or "0") > _PERCENT_MAX:
        place.error(Cause.INVALID, f"must be at most {_PERCENT_MAX}%")
        return None
    return f"{digits or '0'}%"


def _number(place: Place, *, default: int) -> int | None:
    if place.is_set and (isinstance(place.value, bool) or not isinstance(place.value, int)):
        place.error(Cause.WRONG_TYPE, "must be a number or a percentage such as 25%")
        return None
    return place.bounded(0, default=default)
