"""The wheel, built and installed as a user has it: what is in it, and that it runs.

The new environment borrows the dependencies of this one, so nothing is fetched.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import lws
from harness.ports import release_port, take_port
from harness.waiting import eventually
from lws.api.crds import custom_resource_definitions
from lws.cli.main import main
from tests.repo.files import ROOT, tracked

pytestmark = pytest.mark.timeout(300)
OPTIONAL = ("rich", "cel")


def run(*command: str | Path, home: Path) -> str:
    """What a command says on stdout; with its complaints if it fails."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    alone = {"HOME": str(home), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=home, env={**kept, **alone}, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def wheel(home: Path) -> Path:
    """Built anew."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", home / "dist")
    run(sys.executable, "-m", "pip", "wheel", *options, ROOT, home=home)
    (built,) = (home / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, home: Path) -> Path:
    """The folder of programs of an environment that has the wheel."""
    place = home / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    options = ("--quiet", "--no-deps", "--no-compile")
    python = ("--python", place / "bin" / "python")
    run(sys.executable, "-m", "pip", *python, "install", *options, wheel, home=home)
    # A path file within a folder that is named by another is not read: no editable install.
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def test_it_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    package = Path("src/lws")
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name) for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in names if name.parts[0] == "lws"}
    data = [path for path in tracked() if path.is_relative_to(package) and "data" in path.parts]
    assert len(data) > 5
    wanted = {path.relative_to("src") for path in tracked() if path.is_relative_to(package)}
    assert wanted - inside == set()
    assert {name for name in inside if not (ROOT / "src" / name).is_file()} == set()
    assert {name.parts[0] for name in names} == {"lws", f"lws-{lws.__version__}.dist-info"}


def test_its_metadata_name_the_version_the_license_and_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"lws-{lws.__version__}.dist-info/METADATA").decode()
    metadata = Parser().parsestr(text)
    assert metadata["Version"] == lws.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    needed = metadata.get_all("Requires-Dist") or []
    assert any(name.startswith("msgspec") for name in needed)
    assert all("extra" in name for name in needed if name.startswith(("pytest", "rich", "mypy")))


def test_it_is_the_wheels_code_that_runs(installed: Path, home: Path) -> None:
    where = run(installed / "python", "-c", "import lws; print(lws.__file__)", home=home)
    assert Path(where.strip()).is_relative_to(installed.parent)


def test_the_installed_program_tells_its_version(installed: Path, home: Path) -> None:
    assert run(installed / "lws", "--version", home=home).split()[-1] == lws.__version__
    assert run(installed / "kubectl-lws", "--version", home=home).split()[-1] == lws.__version__
    completed = run(installed / "kubectl_complete-lws", "tre", home=home)
    assert completed.startswith("tree\t")
    module = run(installed / "python", "-m", "lws", "--version", home=home)
    assert module.split()[-1] == lws.__version__


def test_the_installed_program_tells_how_to_run_the_manager(installed: Path, home: Path) -> None:
    assert "--leader-elect" in run(installed / "lws", "run", "--help", home=home)


def test_the_installed_program_plans(installed: Path, home: Path) -> None:
    words = ("plan", "steps", "--old", "2,1", "--target", "2,1")
    steps = run(installed / "lws", *words, home=home)
    assert "0 old   2 new" in steps.splitlines()[7], "the last step"
    assert steps == CliRunner().invoke(main, words).stdout


def test_the_installed_package_finds_its_providers_and_its_data(
    installed: Path, home: Path
) -> None:
    program = (
        "from lws.providers import find_provider\n"
        "from lws.api.crds import custom_resource_definitions\n"
        "print(find_provider('volcano').kind.plural)\n"
        "print(*(crd['metadata']['name'] for crd in custom_resource_definitions()))"
    )
    names = [crd["metadata"]["name"] for crd in custom_resource_definitions()]
    assert len(names) > 1
    assert run(installed / "python", "-c", program, home=home).split() == ["podgroups", *names]


@pytest.mark.parametrize("words", ["run --help", "plan steps --old 2,1 --target 2,1"])
def test_what_is_optional_is_not_needed(installed: Path, home: Path, words: str) -> None:
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
        "from lws.cli import main\n"
        "main()"
    )
    assert run(installed / "python", "-c", program, *words.split(), home=home)


def image_command(installed: Path) -> list[str]:
    """The image's command line, its /lws being this environment."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    words: list[str] = []
    for instruction in ("ENTRYPOINT", "CMD"):
        (line,) = re.findall(rf"^{instruction} (.*)$", text, re.MULTILINE)
        words += json.loads(line)
    return [words[0].replace("/lws", str(installed.parent), 1), *words[1:]]


def test_the_images_command_needs_no_shell_and_no_environment(installed: Path, home: Path) -> None:
    program, *words = image_command(installed)
    first = Path(program).read_text(encoding="utf-8").splitlines()[0]
    assert first == f"#!{installed / 'python'}", "its interpreter, and not a shell's script"
    file = home / "wrong.yaml"
    file.write_text("apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\nmetric: {}\n")
    command = [program, *words, f"--config={file}"]
    done = subprocess.run(
        command, env={}, cwd="/", capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "metric" in done.stderr


def test_the_images_command_runs_with_the_deployments_configuration(
    installed: Path, home: Path
) -> None:
    """No API server is there: it waits for one, answers its probes, and ends in order."""
    ports = [take_port() for _ in range(3)]
    file = home / "controller_manager_config.yaml"
    file.write_text(deployed_configuration(ports, certificates=home / "certificates"))
    kubeconfig = home / "kubeconfig"
    kubeconfig.write_text(UNREACHABLE)
    command = [*image_command(installed), f"--config={file}", "--kubeconfig", str(kubeconfig)]
    running = subprocess.Popen(command, env={}, cwd="/", stderr=subprocess.PIPE, encoding="utf-8")
    try:
        eventually(lambda: probe(ports[2], "/healthz") == 200, timeout=60, what="it lives")
        assert probe(ports[2], "/readyz") == 500
        running.terminate()
        _, said = running.communicate(timeout=40)
    finally:
        running.kill()
        for port in ports:
            release_port(port)
    assert running.returncode == 0, said
    assert all(json.loads(line) for line in said.splitlines()), "one JSON object a line"


UNREACHABLE = """
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {token: none}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
"""


def deployed_configuration(ports: list[int], *, certificates: Path) -> str:
    """That of the manifests, with free ports and a folder of this machine."""
    text = (ROOT / "deploy/kustomize/base/configuration.yaml").read_text(encoding="utf-8")
    inner: str = yaml.safe_load(text)["data"]["controller_manager_config.yaml"]
    for name, port in zip(("9443", "8443", "8081"), ports, strict=True):
        assert inner.count(name) == 1
        inner = inner.replace(name, str(port))
    mounted = "/tmp/k8s-webhook-server/serving-certs"
    assert mounted in inner
    return inner.replace(mounted, str(certificates))


def probe(port: int, path: str) -> int | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()
