"""Who acts."""

from typing import Any

from lws.base.times import format_micro_time
from lws.cli.check.leases import NAME, judge_leases, lease_line

NOW = 1_800_000_000.0


def lease(namespace: str = "lws-system", *, ago: float = 3.0, holder: str = "a_1") -> Any:
    return {
        "metadata": {"namespace": namespace, "name": NAME},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "renewTime": format_micro_time(NOW - ago),
        },
    }


def test_the_holder_is_told_with_what_it_runs() -> None:
    line = lease_line(lease(), image="example.com/lws:v1", now=NOW)
    assert line == (
        "lws-system/b8b2488c.x-k8s.io is held by a_1 (example.com/lws:v1), renewed 3 s ago"
    )


def test_a_lease_that_ran_out_or_was_given_up_or_never_was_is_nobodys() -> None:
    for one in (lease(ago=16.0), lease(holder=""), {"metadata": lease()["metadata"]}, None):
        assert "no operator acts" in lease_line(one, image=None, now=NOW)


def test_a_lease_held_in_another_namespace_does_not_keep_two_operators_apart() -> None:
    (finding,) = judge_leases([lease("other")], namespace="lws-system", now=NOW)
    assert "both would act at once" in finding.message
    assert judge_leases([lease()], namespace="lws-system", now=NOW) == []
    assert judge_leases([lease("other", ago=60.0)], namespace="lws-system", now=NOW) == []
