"""Objects put straight into the storage, past the API server, as a restore of a backup does.

UIDs, owners, managedFields, generations, times and status stay what they were. Controllers should
not look on meanwhile: half a world looks to them like a broken one.
"""

import asyncio
import base64
import http.client
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lws.sandbox.store import Key, Store, open_journal

_FOLDERS = {("", "Service"): "services/specs", ("", "Pod"): "pods"}


def into_journal(path: Path, objects: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Namespaced objects, each after its plural, into the file of a sandbox that is stopped."""
    store = Store(journal=open_journal(path))
    for plural, item in objects:
        metadata = item["metadata"]
        group = item["apiVersion"].rpartition("/")[0]
        key = Key(f"{group}/{plural}", metadata["namespace"], metadata["name"])
        store.create(key, dict(item))
    asyncio.run(store.close())


def into_etcd(port: int, plural: str, item: Mapping[str, Any]) -> None:
    """One namespaced object with `apiVersion` and `kind`, into the etcd at this port."""
    metadata = {key: one for key, one in item["metadata"].items() if key != "resourceVersion"}
    group = item["apiVersion"].rpartition("/")[0]
    custom = "." in group
    folder = _FOLDERS.get((group, item["kind"]), f"{group}/{plural}" if custom else plural)
    key = f"/registry/{folder}/{metadata['namespace']}/{metadata['name']}"
    _put(port, key, json.dumps({**item, "metadata": metadata}))


def _put(port: int, key: str, value: str) -> None:
    """By etcd's JSON gateway; the API server reads JSON as well as what it writes itself."""
    body = {"key": _encoded(key), "value": _encoded(value)}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/v3/kv/put", body=json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"etcd does not take {key}: {answer.status} {text}")
    finally:
        connection.close()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
