"""What the process runs with: the file, then the flags over it, then the environment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lws.base.errors import InvalidInput
from lws.manager.configuration import Configuration, check, defaults, read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that `lws run` was told."""

    configuration: Configuration
    kubeconfig: str | None = None
    context: str | None = None
    log_level: str = "info"
    webhooks: bool = True


FLAGS: Mapping[str, tuple[str, str]] = {
    "metrics-bind-address": ("metrics", "bind_address"),
    "health-probe-bind-address": ("health", "health_probe_bind_address"),
    "leader-elect": ("leader_election", "leader_elect"),
    "leader-elect-lease-duration": ("leader_election", "lease_duration"),
    "leader-elect-renew-deadline": ("leader_election", "renew_deadline"),
    "leader-elect-retry-period": ("leader_election", "retry_period"),
    "leader-elect-resource-lock": ("leader_election", "resource_lock"),
    "leader-elect-resource-name": ("leader_election", "resource_name"),
    "kube-api-qps": ("client_connection", "qps"),
    "kube-api-burst": ("client_connection", "burst"),
}
"""Flags that beat the file: section and field."""


def settings_of(
    *,
    config: str | None,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    kubeconfig: str | None,
    context: str | None,
    log_level: str,
) -> Settings:
    """InvalidInput names the file, the field or the flag that is wrong.

    `flags` holds those that were given, by their names without dashes in front.
    """
    configuration = read_file(Path(config)) if config else defaults()
    configuration = _with_flags(configuration, flags)
    return Settings(
        configuration=configuration,
        kubeconfig=kubeconfig,
        context=context,
        log_level=log_level,
        webhooks=_switch("ENABLE_WEBHOOKS", environ, default=True),
    )


def _with_flags(configuration: Configuration, flags: Mapping[str, Any]) -> Configuration:
    """All of them over the file, then judged together; what is wrong is a flag's doing."""
    for flag, value in flags.items():
        section_name, field = FLAGS[flag]
        section = msgspec.structs.replace(getattr(configuration, section_name), **{field: value})
        configuration = msgspec.structs.replace(configuration, **{section_name: section})
    try:
        check(configuration)
    except InvalidInput as error:
        raise InvalidInput(field=_flags_of(error.field, flags), message=error.message) from error
    return configuration


def _flags_of(path: str, given: Iterable[str]) -> str:
    """The flag of that field; where it was not given, those that are judged together with it."""
    section = path.partition(".")[0]
    paths = {flag: ".".join(map(_camel, FLAGS[flag])) for flag in given}
    exact = [flag for flag, own in paths.items() if own == path]
    near = [flag for flag, own in paths.items() if own.startswith(f"{section}.")]
    return ", ".join(f"--{flag}" for flag in exact or near) or path


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _switch(name: str, environ: Mapping[str, str], *, default: bool) -> bool:
    text = environ.get(name, "").strip().lower()
    if text in ("", "true", "1", "yes"):
        return default if text == "" else True
    if text in ("false", "0", "no"):
        return False
    raise InvalidInput(field=name, message=f"must be true or false, not {text!r}")
