"""Whether two objects mean the same, however they are written.

Law: pure, and knows no decision; whoever has to tell an update from another serialisation asks
here. What counts as the same stands in `rules`, each with its reason.
"""

from lws.planner.meaning.subset import differing_fields as differing_fields
from lws.planner.meaning.template import normalise_template as normalise_template
from lws.planner.meaning.template import same_template as same_template
from lws.planner.meaning.template import template_digest as template_digest
