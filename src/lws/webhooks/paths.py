"""Where the webhooks are served; other installations' configurations name the same paths."""

MUTATE_LEADERWORKERSET = "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
VALIDATE_LEADERWORKERSET = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
VALIDATE_DISAGGREGATEDSET = "/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset"
MUTATE_POD = "/mutate--v1-pod"
VALIDATE_POD = "/validate--v1-pod"
