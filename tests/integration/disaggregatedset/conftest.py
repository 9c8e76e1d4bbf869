"""A DisaggregatedSet's tests all have the operator running, and a namespace of their own."""

import pytest

from harness.kube import Kube
from harness.operator import Operator
from tests.integration.disaggregatedset.support import Fleet


@pytest.fixture
def fleet(kube: Kube, operator: Operator, namespace: str) -> Fleet:
    """A set named `pd`, not created yet."""
    return Fleet(kube, namespace)
