"""Pod Security Standards: what the labels of a namespace let its pods do.

Law: `checks` and what is below it are pure, a pod in and violations out; `plugin` alone knows the
server.
"""

from lws.sandbox.server.admission.podsecurity.plugin import PodSecurity as PodSecurity
