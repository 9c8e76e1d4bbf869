"""The judge of rules and panels reads expressions as Prometheus does."""

import pytest

from tests.deploy.promql import Asked, asked


@pytest.mark.parametrize(
    ("expression", "metrics", "grouping"),
    [
        ('max by (a, b) (m{x="1", y=~"n{2}"}) > 0', {"m": {"x", "y"}}, {"a", "b"}),
        ("sum(rate(m_total[5m])) / sum(rate(n[5m])) > 0.1", {"m_total": set(), "n": set()}, set()),
        (
            "a:b:rate5m unless on (c) group_left (d) m",
            {"a:b:rate5m": set(), "m": set()},
            {"c", "d"},
        ),
        ("histogram_quantile(0.9, sum by (le) (rate(h_bucket[1h])))", {"h_bucket": set()}, {"le"}),
        ('absent(m{name="b8-c.x"} == 1) and time() - 7 * 86400 < 1e3', {"m": {"name"}}, set()),
    ],
)
def test_metrics_labels_and_groupings_are_found(
    expression: str, metrics: dict[str, set[str]], grouping: set[str]
) -> None:
    series = {Asked(name, frozenset(labels)) for name, labels in metrics.items()}
    assert asked(expression) == (series, grouping)
