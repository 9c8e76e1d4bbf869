"""Gang scheduling providers: what a PodGroup looks like, how a pod is marked.

Law: pure; found by entry point (group `lws.scheduler_providers`), so that another can be added from
outside: a class that is `SchedulerProvider`, called without arguments.
"""

from lws.providers.interface import PodGroupKind as PodGroupKind
from lws.providers.interface import PodGroupRequest as PodGroupRequest
from lws.providers.interface import SchedulerProvider as SchedulerProvider
from lws.providers.registry import find_provider as find_provider
