"""`lws run`: the manager process."""

import os
import sys
from typing import Any

import click

from lws.base.errors import InvalidInput
from lws.cli.problems import EXIT_USAGE, tell
from lws.client.errors import KubeconfigError
from lws.manager.settings import FLAGS, settings_of

_BOOLEAN = click.BOOL


@click.command("run", context_settings={"max_content_width": 100})
@click.option("--config", metavar="FILE", help="Configuration file (config.lws.x-k8s.io/v1alpha1).")
@click.option("--kubeconfig", metavar="FILE", help="Kubeconfig; else $KUBECONFIG, in-cluster, ~.")
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option("--metrics-bind-address", metavar="ADDRESS", help="Metrics; 0 turns them off.")
@click.option("--health-probe-bind-address", metavar="ADDRESS", help="Probes; 0 turns them off.")
@click.option(
    "--leader-elect", type=_BOOLEAN, is_flag=False, flag_value="true", help="Act only as leader."
)
@click.option("--leader-elect-lease-duration", metavar="DURATION", help="Such as 15s.")
@click.option("--leader-elect-renew-deadline", metavar="DURATION", help="Such as 10s.")
@click.option("--leader-elect-retry-period", metavar="DURATION", help="Such as 2s.")
@click.option("--leader-elect-resource-lock", metavar="KIND", help="Only leases.")
@click.option("--leader-elect-resource-name", metavar="NAME", help="Name of the Lease.")
@click.option("--kube-api-qps", type=float, help="Requests a second to the API server.")
@click.option("--kube-api-burst", type=int, help="Requests in one burst.")
@click.option("--zap-log-level", default="info", metavar="LEVEL", help="debug, info, error or 0-5.")
def run(
    config: str | None,
    kubeconfig: str | None,
    context: str | None,
    zap_log_level: str,
    **flags: Any,
) -> None:
    """Run the controllers and webhooks until a signal ends them.

    Exit codes: 0 stopped in order, 1 something died, 2 wrong configuration.
    """
    given = {name.replace("_", "-"): value for name, value in flags.items() if value is not None}
    assert given.keys() <= FLAGS.keys(), "every flag stands in FLAGS"
    try:
        settings = settings_of(
            config=config,
            flags=given,
            environ=os.environ,
            kubeconfig=kubeconfig,
            context=context,
            log_level=zap_log_level,
        )
        from lws.manager.run import run_manager  # loads the servers only once they are wanted

        code = run_manager(settings, environ=os.environ)
    except (InvalidInput, KubeconfigError) as error:
        tell(str(error))
        code = EXIT_USAGE
    sys.exit(code)
