"""JSON patch, merge patch, strategic merge patch and server-side apply, by schema.

Law: pure; objects in, objects out; what comes in is never changed, what comes out may share parts
with it.
"""

from lws.sandbox.patch.errors import ApplyConflict as ApplyConflict
from lws.sandbox.patch.errors import Conflict as Conflict
from lws.sandbox.patch.errors import PatchError as PatchError
from lws.sandbox.patch.jsonpatch import json_patch as json_patch
from lws.sandbox.patch.managed import applied as applied
from lws.sandbox.patch.managed import updated as updated
from lws.sandbox.patch.merge import merge_patch as merge_patch
from lws.sandbox.patch.strategic import strategic_merge_patch as strategic_merge_patch
