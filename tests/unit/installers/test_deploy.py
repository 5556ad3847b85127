"""The container and Kubernetes files: what they name exists here, and nothing runs with more rights than it needs.

No container engine and no cluster was available to run them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from keepmum.cli import parser as command_line
from keepmum.core.version import VERSION
from keepmum.server import app, settings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "installers" / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
SECRET = {"KEEPMUM_SERVER_SECRET", "KEEPMUM_SERVER_SECRET_FILE"}
VARIABLES = (
    SECRET | {each.variable for each in settings.DECLARED} | {f"{each.variable}_FILE" for each in settings.DECLARED}
)


def _documents() -> list[dict[str, Any]]:
    return [document for path in MANIFESTS for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))]


def _pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for document in _documents():
        spec = document.get("spec", {})
        template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
        if template:
            yield document["metadata"]["name"], template["spec"]


PODS = dict(_pods())
CONTAINERS = [(name, container) for name, pod in PODS.items() for container in pod["containers"]]


def _containerfile() -> list[str]:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def _actions() -> set[str]:
    """What may follow `keepmum serve`."""
    usage = command_line.build_parser(["serve"])
    (commands,) = (action for action in usage._actions if hasattr(action, "choices") and action.choices)
    choices: dict[str, Any] = dict(commands.choices or {})
    (actions,) = (action for action in choices["serve"]._actions if isinstance(action.choices, dict))
    return set(actions.choices)


def test_everything_that_the_image_copies_exists() -> None:
    copied = [line.split()[1:-1] for line in _containerfile() if line.startswith("COPY") and "--from" not in line]
    assert [path for paths in copied for path in paths if not (ROOT / path).exists()] == []


def test_every_package_of_the_image_has_a_hash() -> None:
    lock = (ROOT / "installers" / "locks" / "server.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert any("--require-hashes" in line for line in _containerfile())


def test_the_lock_has_every_package_of_the_server_in_the_versions_of_the_tests() -> None:
    def pins(name: str) -> dict[str, str]:
        text = (ROOT / "installers" / "locks" / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE))

    server, tested = pins("server.txt"), pins("dev.txt")
    assert {"psycopg", "starlette", "uvicorn", "mcp"} <= server.keys()
    assert {name: pin for name, pin in server.items() if tested.get(name) != pin} == {}


def test_the_image_runs_as_another_user_than_root() -> None:
    lines = _containerfile()
    assert "USER 10001:10001" in lines
    assert lines.index("USER 10001:10001") < next(at for at, line in enumerate(lines) if line.startswith("ENTRYPOINT"))


def test_the_image_probes_a_route_of_the_server_on_its_port() -> None:
    (check,) = (line for line in _containerfile() if line.startswith("HEALTHCHECK"))
    (port, path) = re.findall(r"127\.0\.0\.1:(\d+)(/[\w/]+)", check)[0]
    assert (int(port), path in {route.path for route in app.ROUTES}) == (settings.ServerSettings("").port, True)


@pytest.mark.parametrize(("name", "container"), CONTAINERS, ids=[name for name, _ in CONTAINERS])
def test_a_container_has_only_the_rights_that_it_needs(name: str, container: dict[str, Any]) -> None:
    rights, pod = container["securityContext"], PODS[name]
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["automountServiceAccountToken"] is False


@pytest.mark.parametrize(("name", "container"), CONTAINERS, ids=[name for name, _ in CONTAINERS])
def test_a_container_runs_a_command_of_this_version(name: str, container: dict[str, Any]) -> None:
    assert container["image"].endswith(f":{VERSION}"), name
    words = container["args"][0].partition("launch.py serve ")[2] or container["args"][0]
    assert words.split()[0] in _actions()


@pytest.mark.parametrize(("name", "container"), CONTAINERS, ids=[name for name, _ in CONTAINERS])
def test_every_mount_has_a_volume(name: str, container: dict[str, Any]) -> None:
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in PODS[name]["volumes"]
    }


def test_probes_ask_routes_of_the_server() -> None:
    known = {route.path for route in app.ROUTES}
    for _, container in CONTAINERS:
        probes = [value for field, value in container.items() if field.endswith("Probe")]
        assert {probe["httpGet"]["path"] for probe in probes} <= known


def test_every_variable_is_a_setting() -> None:
    named = set(_compose()["services"]["server"]["environment"])
    named |= {
        line.split("=")[0].split()[-1] for line in re.findall(r"KEEPMUM_SERVER_\w+=", "\n".join(_containerfile()))
    }
    for document in _documents():
        named |= set(document["data"]) if document["kind"] == "ConfigMap" else set()
    named |= {variable["name"] for _, container in CONTAINERS for variable in container.get("env", ())}
    assert {name.rstrip("=") for name in named} <= VARIABLES


def test_the_composed_server_is_published_on_this_machine_only() -> None:
    server = _compose()["services"]["server"]
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])


def test_no_file_holds_a_secret() -> None:
    from keepmum_scanner import scan

    for path in (DEPLOY / "Containerfile", DEPLOY / "compose.yaml", *MANIFESTS):
        assert scan(path.read_text(encoding="utf-8")) == [], path.name
