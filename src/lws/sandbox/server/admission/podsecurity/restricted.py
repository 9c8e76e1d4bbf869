"""What the level restricted asks for besides: that a pod that is broken into can do little."""

from lws.sandbox.server.admission.podsecurity.pods import (
    JsonObject,
    Pod,
    Violation,
    containers_words,
    plural,
    quoted,
    setters_words,
)

_VOLUMES = frozenset(
    (
        *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"),
        *("persistentVolumeClaim", "projected", "secret"),
    )
)
_FILTERED = ("RuntimeDefault", "Localhost")
_PROFILE = "securityContext.seccompProfile.type"


def privilege_escalation(pod: Pod) -> Violation | None:
    """No process gets more rights than its parent."""
    names = pod.names(lambda context: context.get("allowPrivilegeEscalation") is not False)
    if not names or _is_spared(pod):
        return None
    detail = f"{containers_words(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def _is_spared(pod: Pod) -> bool:
    """Windows knows nothing of it."""
    return pod.minor >= 25 and pod.is_of_windows


def capabilities(pod: Pod) -> Violation | None:
    """None but, perhaps, that of low ports."""
    if _is_spared(pod):
        return None
    added: set[str] = set()

    def keeps(context: JsonObject) -> bool:
        return "ALL" not in ((context.get("capabilities") or {}).get("drop") or ())

    def adds(context: JsonObject) -> bool:
        more = set((context.get("capabilities") or {}).get("add") or ()) - {"NET_BIND_SERVICE"}
        added.update(more)
        return bool(more)

    keeping, adding = pod.names(keeps), pod.names(adds)
    words = []
    if keeping:
        who = containers_words(keeping)
        words.append(f'{who} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        what = f"{quoted(sorted(added))} in securityContext.capabilities.add"
        words.append(f"{containers_words(adding)} must not include {what}")
    return Violation("unrestricted capabilities", "; ".join(words)) if words else None


def volumes(pod: Pod) -> Violation | None:
    """Only what comes with the pod, or is claimed."""
    found = {
        one["name"]: next((key for key in one if key != "name"), "")
        for one in pod.spec.get("volumes") or ()
    }
    bad = {name: kind for name, kind in found.items() if kind not in _VOLUMES}
    if not bad:
        return None
    names, kinds = list(bad), sorted(set(bad.values()))
    use = "uses" if len(names) == 1 else "use"
    what = f"{plural('restricted volume type', kinds)} {quoted(kinds)}"
    detail = f"{plural('volume', names)} {quoted(names)} {use} {what}"
    return Violation("restricted volume types", detail)


def run_as_non_root(pod: Pod) -> Violation | None:
    """Nobody is root, and the kubelet sees to it."""
    if _is_nobody(pod):
        return None
    of_pod = pod.context.get("runAsNonRoot")
    names = pod.names(lambda context: context.get("runAsNonRoot") is False)
    reason = "runAsNonRoot != true"
    if names or of_pod is False:
        who = setters_words(names, pod=of_pod is False)
        return Violation(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    silent = pod.names(lambda context: context.get("runAsNonRoot") is None)
    if of_pod or not silent:
        return None
    who = f"pod or {containers_words(silent)}"
    return Violation(reason, f"{who} must set securityContext.runAsNonRoot=true")


def _is_nobody(pod: Pod) -> bool:
    """Its root is nobody on the node."""
    return pod.minor >= 35 and pod.has_own_users


def run_as_user(pod: Pod) -> Violation | None:
    """Not by number either."""
    names, is_pod = pod.names(_is_root), _is_root(pod.context)
    if _is_nobody(pod) or not (names or is_pod):
        return None
    return Violation("runAsUser=0", f"{setters_words(names, pod=is_pod)} must not set runAsUser=0")


def _is_root(context: JsonObject) -> bool:
    return context.get("runAsUser") == 0


def seccomp(pod: Pod) -> Violation | None:
    """System calls are filtered, and it is said how."""
    if _is_spared(pod):
        return None
    kinds: set[str] = set()

    def is_bad(context: JsonObject) -> bool:
        kind = _profile(context)
        if kind and kind not in _FILTERED:
            kinds.add(kind)
        return bool(kind) and kind not in _FILTERED

    names, is_pod = pod.names(is_bad), is_bad(pod.context)
    if names or is_pod:
        who = setters_words(names, pod=is_pod)
        what = f"{_PROFILE} to {quoted(sorted(kinds))}"
        return Violation("seccompProfile", f"{who} must not set {what}")
    silent = pod.names(lambda context: not _profile(context))
    if _profile(pod.context) or not silent:
        return None
    wanted = " or ".join(f'"{kind}"' for kind in _FILTERED)
    who = f"pod or {containers_words(silent)}"
    return Violation("seccompProfile", f"{who} must set {_PROFILE} to {wanted}")


def _profile(context: JsonObject) -> str:
    return str((context.get("seccompProfile") or {}).get("type") or "")
