"""An API server that lives in a folder of its own, with processes that end with it."""

import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.kube import Kube
from harness.process import Home


class Housed(ABC):
    """A context manager that returns when all of it is ready; nothing stays behind."""

    kube: Kube
    """The administrator's client, once it is there."""
    _home: Home | None = None

    def start(self) -> None:
        """Start everything and wait until it is ready; nothing stays behind if that fails."""
        self._home = Home()
        try:
            self._furnish()
            self._start()
        except BaseException:
            self.stop()
            raise

    def _furnish(self) -> None:  # noqa: B027 - not everybody needs something
        """What is needed before a process starts."""

    @abstractmethod
    def _start(self) -> None:
        """Start all processes, and wait."""

    @abstractmethod
    def _end(self) -> None:
        """End those that were started, be they few."""

    def stop(self) -> None:
        """End all processes and remove all files."""
        if self._home is None:
            return
        if hasattr(self, "kube"):
            self.kube.close()
        self._end()
        self._home.remove()
        self._home = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def home(self) -> Path:
        """The folder of all its files, gone after the stop."""
        return self.runtime_home.path

    @property
    def runtime_home(self) -> Home:
        """Where other processes that have to end with it are started."""
        assert self._home is not None, "not running"
        return self._home

    @property
    @abstractmethod
    def admin_kubeconfig(self) -> Path:
        """For an administrator."""

    @property
    @abstractmethod
    def kubectl_program(self) -> Path:
        """The kubectl that is run."""

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator; its standard output, or an error with its complaint."""
        program = [str(self.kubectl_program), "--kubeconfig", str(self.admin_kubeconfig)]
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            [*program, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout
