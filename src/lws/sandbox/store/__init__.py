"""Objects by resource, namespace and name, their revisions and watches.

Law: knows no kind; every write is one revision. An object that is in the store is changed by
nobody: a write puts another one in its place.
"""

from lws.sandbox.store.changes import Change as Change
from lws.sandbox.store.changes import ChangeType as ChangeType
from lws.sandbox.store.changes import Key as Key
from lws.sandbox.store.errors import Changed as Changed
from lws.sandbox.store.errors import Compacted as Compacted
from lws.sandbox.store.errors import Exists as Exists
from lws.sandbox.store.errors import FutureRevision as FutureRevision
from lws.sandbox.store.errors import Missing as Missing
from lws.sandbox.store.history import Cursor as Cursor
from lws.sandbox.store.journal import Journal as Journal
from lws.sandbox.store.journal import open_journal as open_journal
from lws.sandbox.store.objects import Page as Page
from lws.sandbox.store.objects import Store as Store
