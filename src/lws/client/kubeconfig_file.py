"""One kubeconfig file as it is written: its fields, read strictly by type, not yet judged."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from lws.client.errors import KubeconfigError

_T = TypeVar("_T")


class Extension(msgspec.Struct, frozen=True):
    """Somebody's own data about a cluster."""

    name: str = ""
    extension: Any = None


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """How to reach a cluster."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[Extension] = []


class EnvironmentVariable(msgspec.Struct, frozen=True):
    """One variable for a plugin."""

    name: str
    value: str = ""


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    """A credential plugin."""

    command: str = ""
    args: list[str] = []
    env: list[EnvironmentVariable] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(msgspec.Struct, frozen=True):
    """What plugins were before they were programs."""

    name: str = ""


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """Who to be."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: Exec | None = None
    auth_provider: AuthProvider | None = None
    as_user: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] = []
    as_user_extra: dict[str, list[str]] = {}


class Context(msgspec.Struct, frozen=True):
    """A user at a cluster, and the namespace meant when none is said."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: Cluster = Cluster()


class NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: User = User()


class NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context = Context()


class KubeconfigFile(msgspec.Struct, frozen=True, rename="kebab"):
    """The file; what it does not name is ignored, as kubectl does."""

    clusters: list[NamedCluster] = []
    users: list[NamedUser] = []
    contexts: list[NamedContext] = []
    current_context: str = ""


def read_kubeconfig_file(path: Path) -> KubeconfigFile:
    """The file's content; KubeconfigError names the file and the field or line."""
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise KubeconfigError(
            f"cannot be read: {error.strerror}; give a readable file", file=file
        ) from error
    except UnicodeDecodeError as error:
        raise KubeconfigError("is not UTF-8 text; give a YAML file", file=file) from error
    return parse_kubeconfig(text, file=file)


def parse_kubeconfig(text: str, *, file: str) -> KubeconfigFile:
    """The content of a file's text. Messages never quote it: it holds secrets."""
    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise KubeconfigError(f"is not YAML: {error.problem}", file=f"{file}:{line}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise KubeconfigError("is not YAML; write it anew", file=file) from error
    if document is None:
        return KubeconfigFile()
    return convert(without_nulls(document), KubeconfigFile, file=file)


def convert(document: object, kind: type[_T], *, file: str) -> _T:
    """A document as a Struct; the message of a wrong type names the field, not the value."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        field = path.rstrip("`").lstrip(".")
        advice = "; put quotes around it" if what.startswith("Expected `str`") else ""
        raise KubeconfigError(f"{what}{advice}", file=file, field=field) from error


def without_nulls(document: object) -> object:
    """`users: null` means the same as no users: tools write it so."""
    if isinstance(document, dict):
        return {k: without_nulls(v) for k, v in document.items() if v is not None}
    if isinstance(document, list):
        return [without_nulls(one) for one in document if one is not None]
    return document
