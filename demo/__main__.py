"""python -m demo: exit 0 only if everything that was told was true.

On the sandbox, which needs nothing but Python; with DEMO=real on a real control plane.
"""

import os
import sys

from demo.story import UntrueError, run
from demo.view import View
from harness.controlplane import ControlPlane
from harness.up import UpPlane


def main() -> int:
    """Tell the story; the exit code."""
    is_real = os.environ.get("DEMO") == "real"
    with View() as view:
        try:
            if is_real:
                view.say("start a control plane: etcd, kube-apiserver, controllers, kwok")
            else:
                view.say("start a control plane in memory: lws up")
            with ControlPlane() if is_real else UpPlane(nodes=12) as plane:
                view.told("the control plane is ready, with nodes and the CRDs")
                run(plane, view)
            view.told("everything is stopped and cleaned up")
        except UntrueError as error:
            view.failed(str(error))
            return 1
        except KeyboardInterrupt:
            view.say("interrupted; everything is stopped and cleaned up")
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
