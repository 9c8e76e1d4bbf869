"""`lws plan`: an update's steps before they happen, made by the code that the controllers run.

Law: reads manifests or a live set, asks the planners, prints; decides nothing.
"""

from lws.cli.plan.commands import plan as plan
