"""What the level baseline forbids: known ways from a pod to its node."""

from collections.abc import Iterator

from lws.sandbox.server.admission.podsecurity.pods import (
    JsonObject,
    Pod,
    Violation,
    containers_words,
    context_of,
    plural,
    quoted,
    setters_words,
)

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_SELINUX_TYPES = {"": 0, "container_t": 0, "container_init_t": 0, "container_kvm_t": 0} | {
    "container_engine_t": 31
}
_SYSCTLS = {  # since which version they are safe
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}


def app_armor(pod: Pod) -> Violation | None:
    """No profile switched off, in fields or by annotation."""

    def is_off(context: JsonObject) -> bool:
        return (context.get("appArmorProfile") or {}).get("type") == "Unconfined"

    names, is_pod = pod.names(is_off), is_off(pod.context)
    notes = [
        f'{key}="{value}"'
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR) and not _is_profile(value)
    ]
    if not (names or is_pod or notes):
        return None
    values = sorted({*(["Unconfined"] if names or is_pod else []), *notes})
    others = [plural("annotation", notes)] if notes else []
    who = setters_words(names, pod=is_pod, others=others)
    detail = f"{who} must not set AppArmor profile type to {quoted(values)}"
    return Violation(plural("forbidden AppArmor profile", values), detail)


def _is_profile(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def capabilities(pod: Pod) -> Violation | None:
    """No capability that container runtimes do not give by themselves."""
    found: set[str] = set()

    def is_bad(context: JsonObject) -> bool:
        more = set((context.get("capabilities") or {}).get("add") or ()) - _CAPABILITIES
        found.update(more)
        return bool(more)

    names = pod.names(is_bad)
    if not names:
        return None
    what = f"{quoted(sorted(found))} in securityContext.capabilities.add"
    detail = f"{containers_words(names)} must not include {what}"
    return Violation("non-default capabilities", detail)


def host_namespaces(pod: Pod) -> Violation | None:
    """Nothing of the node's network, processes and memory."""
    found = [one for one in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(one)]
    if not found:
        return None
    return Violation("host namespaces", ", ".join(f"{one}=true" for one in found))


def host_path(pod: Pod) -> Violation | None:
    """No volume that is a folder of the node."""
    names = [one["name"] for one in pod.spec.get("volumes") or () if "hostPath" in one]
    if not names:
        return None
    return Violation("hostPath volumes", f"{plural('volume', names)} {quoted(names)}")


def host_ports(pod: Pod) -> Violation | None:
    """No port of the node."""
    ports = {
        one["name"]: [port["hostPort"] for port in one.get("ports") or () if port.get("hostPort")]
        for one in pod.containers()
    }
    names = [name for name, used in ports.items() if used]
    if not names:
        return None
    numbers = sorted({str(port) for used in ports.values() for port in used})
    what = f"{plural('hostPort', numbers)} {', '.join(numbers)}"
    return Violation("hostPort", f"{containers_words(names)} {_use(names)} {what}")


def _use(names: list[str]) -> str:
    return "uses" if len(names) == 1 else "use"


def host_probes(pod: Pod) -> Violation | None:
    """No probe and no hook that makes the kubelet ask somebody else."""
    hosts = {one["name"]: set(_hosts(one)) for one in pod.containers()}
    names = [name for name, asked in hosts.items() if asked]
    if not names:
        return None
    found = sorted(set().union(*hosts.values()))
    what = f"{plural('probe or lifecycle host', found)} {quoted(found)}"
    return Violation("probe or lifecycle host", f"{containers_words(names)} {_use(names)} {what}")


def _hosts(container: JsonObject) -> Iterator[str]:
    probes = [container.get(f"{name}Probe") for name in ("liveness", "readiness", "startup")]
    hooks = [(container.get("lifecycle") or {}).get(name) for name in ("postStart", "preStop")]
    for action in filter(None, [*probes, *hooks]):
        for kind in ("httpGet", "tcpSocket"):
            host = (action.get(kind) or {}).get("host")
            if host:
                yield host


def privileged(pod: Pod) -> Violation | None:
    """No container that may do all."""
    names = pod.names(lambda context: context.get("privileged"))
    if not names:
        return None
    detail = f"{containers_words(names)} must not set securityContext.privileged=true"
    return Violation("privileged", detail)


def proc_mount(pod: Pod) -> Violation | None:
    """All of /proc only to those whose root is nobody on the node."""
    is_theirs = pod.minor >= 35 and pod.has_own_users
    return None if is_theirs else any_proc_mount(pod)


def any_proc_mount(pod: Pod) -> Violation | None:
    """No more of /proc than usual."""
    kinds: set[str] = set()

    def is_bad(context: JsonObject) -> bool:
        kind = context.get("procMount") or "Default"
        if kind != "Default":
            kinds.add(kind)
        return kind != "Default"

    names = pod.names(is_bad)
    if not names:
        return None
    what = f"securityContext.procMount to {quoted(sorted(kinds))}"
    return Violation("procMount", f"{containers_words(names)} must not set {what}")


def selinux(pod: Pod) -> Violation | None:
    """No type but those of containers; no user and no role."""
    names = pod.names(lambda context: _selinux_faults(context, pod.minor))
    is_pod = bool(_selinux_faults(pod.context, pod.minor))
    if not names and not is_pod:
        return None
    contexts = [pod.context, *map(context_of, pod.containers())]
    found = {one for each in contexts for one in _selinux_faults(each, pod.minor)}
    types = sorted(one.removeprefix("type ") for one in found if one.startswith("type "))
    words = [f"{plural('type', types)} {quoted(types)}"] if types else []
    words += [f"{field} may not be set" for field in ("user", "role") if field in found]
    who = setters_words(names, pod=is_pod)
    detail = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(words)}"
    return Violation("seLinuxOptions", detail)


def _selinux_faults(context: JsonObject, minor: int) -> set[str]:
    options = context.get("seLinuxOptions") or {}
    kind = options.get("type") or ""
    faults = {field for field in ("user", "role") if options.get(field)}
    if kind not in _SELINUX_TYPES or _SELINUX_TYPES[kind] > minor:
        faults.add(f"type {kind}")
    return faults


def seccomp(pod: Pod) -> Violation | None:
    """System calls are filtered."""
    if pod.minor < 19:
        return _seccomp_by_annotation(pod)

    def is_off(context: JsonObject) -> bool:
        return (context.get("seccompProfile") or {}).get("type") == "Unconfined"

    names, is_pod = pod.names(is_off), is_off(pod.context)
    if not names and not is_pod:
        return None
    what = 'securityContext.seccompProfile.type to "Unconfined"'
    who = setters_words(names, pod=is_pod)
    return Violation("seccompProfile", f"{who} must not set {what}")


def _seccomp_by_annotation(pod: Pod) -> Violation | None:
    keys = [_SECCOMP_POD, *(f"{_SECCOMP}{one['name']}" for one in pod.containers())]
    found = [
        f'{key}="{pod.annotations[key]}"'
        for key in keys
        if key in pod.annotations and not _is_seccomp(pod.annotations[key])
    ]
    if not found:
        return None
    words = f"forbidden {plural('annotation', found)} {', '.join(sorted(found))}"
    return Violation("seccompProfile", words)


def _is_seccomp(value: str) -> bool:
    return value in ("runtime/default", "docker/default") or value.startswith("localhost/")


def sysctls(pod: Pod) -> Violation | None:
    """Only settings of the kernel that each pod has for itself."""
    found = [
        one["name"]
        for one in pod.context.get("sysctls") or ()
        if _SYSCTLS.get(one["name"], pod.minor + 1) > pod.minor
    ]
    return Violation("forbidden sysctls", ", ".join(found)) if found else None


def windows_host_process(pod: Pod) -> Violation | None:
    """No container that is a process of a Windows node."""

    def is_process(context: JsonObject) -> bool:
        return bool((context.get("windowsOptions") or {}).get("hostProcess"))

    names, is_pod = pod.names(is_process), is_process(pod.context)
    if not names and not is_pod:
        return None
    what = "must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", f"{setters_words(names, pod=is_pod)} {what}")
