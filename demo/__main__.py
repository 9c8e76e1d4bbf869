"""python -m demo: exit 0 only if everything that was told was true."""

import sys

from demo.story import UntrueError, run
from demo.view import View
from harness.controlplane import ControlPlane


def main() -> int:
    """Tell the story; the exit code."""
    with View() as view:
        try:
            view.say("start a control plane: etcd, kube-apiserver, controllers, scheduler, kwok")
            with ControlPlane() as plane:
                view.told("the control plane is ready: 8 nodes, the LeaderWorkerSet CRDs")
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
