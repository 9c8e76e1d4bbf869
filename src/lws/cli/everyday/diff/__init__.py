"""`lws diff`: what an apply would change in the world, told by the code that would change it.

Law: `fields`, `leaderworkerset`, `disaggregatedset` and `revisions` are pure, and ask the planner
what a change means; `applying` asks the API server what an apply would make, in a dry run.
"""

from lws.cli.everyday.diff.command import diff as diff
