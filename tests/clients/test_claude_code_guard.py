"""The guard in the real Claude Code checks writes to another memory server and to memory files, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clients.claude import Claude
from clients.mock_model import Call, MockModel, Request
from clients.other_memory import SERVER
from clients.samples import token
from hidden import assert_hidden

pytestmark = pytest.mark.clients

ENTITIES = "mcp__memory__create_entities"
FREELY = "--dangerously-skip-permissions"  # no permission rule forbids anything, so a denial comes from the guard
SOURCE = "def connect() -> None:\n    return\n"


class Agent:
    """An agent with all permissions, in a project with a memory file, and with another memory server."""

    def __init__(self, user: Claude, model: MockModel, project: Path, folder: Path) -> None:
        self.model = model
        self.project = project
        self.kept = folder / "kept.jsonl"
        self.kept.touch()
        self.memory_file = project / "CLAUDE.md"
        self.memory_file.write_text("# Rules\n", encoding="utf-8")
        self._user = user
        self._user.environ["IS_SANDBOX"] = "1"  # otherwise the client refuses these permissions to root
        script = folder / "server.py"
        script.write_text(SERVER, encoding="utf-8")
        self._servers = folder / "servers.json"
        self.server_arguments = (str(script), str(self.kept))
        self.has_server("python3", *self.server_arguments)

    def has_server(self, command: str, *arguments: str, **environ: str) -> None:
        """Set the command of the other memory server."""
        server = {"command": command, "args": arguments, "env": environ}
        self._servers.write_text(json.dumps({"mcpServers": {"memory": server}}), encoding="utf-8")

    def does(self, *calls: Call) -> list[Request]:
        """The model's request after each of the calls."""
        before = len(self.model.requests) + 1
        self.model.will(*calls)
        self._user.ask("go on", FREELY, "--mcp-config", str(self._servers), folder=self.project)
        return self.model.requests[before:]

    def is_refused(self, *calls: Call) -> str:
        """The reason in the refusal of the last call, which must be refused."""
        (reason,) = self.does(*calls)[-1].errors()
        assert_hidden(token()[:8], reason)
        return reason


@pytest.fixture
def agent(user: Claude, model: MockModel, project: Path, tmp_path: Path) -> Agent:
    return Agent(user, model, project, tmp_path)


def entities(text: str) -> Call:
    return Call(ENTITIES, {"entities": [{"name": "deploys", "observations": ["They are blue.", text]}]})


def written(path: Path, text: str) -> Call:
    return Call("Write", {"file_path": str(path), "content": text})


def test_a_secret_does_not_reach_another_memory_server(agent: Agent) -> None:
    reason = agent.is_refused(entities(f"one\nThe token is {token()}"))
    assert "github.token in entities[0].observations[1], line 2" in reason
    assert "without the secret" in reason
    assert agent.kept.read_text(encoding="utf-8") == ""


def test_what_holds_no_secret_reaches_another_memory_server(agent: Agent) -> None:
    (after,) = agent.does(entities("They go through the pool."))
    assert after.errors() == []
    assert "They go through the pool." in agent.kept.read_text(encoding="utf-8")


def test_a_secret_does_not_reach_the_official_memory_server(server_memory: list[str], agent: Agent) -> None:
    agent.has_server(*server_memory, MEMORY_FILE_PATH=str(agent.kept))
    entity = {"name": "deploys", "entityType": "topic", "observations": ["They go through the pool."]}
    (after,) = agent.does(Call(ENTITIES, {"entities": [entity]}))
    assert after.errors() == []
    assert "They go through the pool." in agent.kept.read_text(encoding="utf-8")
    secret = Call(ENTITIES, {"entities": [{**entity, "name": "token", "observations": [f"It is {token()}."]}]})
    assert "github.token in entities[0].observations[0], line 1" in agent.is_refused(secret)
    assert_hidden(token(), agent.kept.read_text(encoding="utf-8"))


def test_a_secret_is_not_written_to_a_memory_file(agent: Agent) -> None:
    read = Call("Read", {"file_path": str(agent.memory_file)})
    reason = agent.is_refused(read, written(agent.memory_file, f"# Rules\n\nUse {token()}\n"))
    assert "github.token in content, line 3" in reason
    assert agent.memory_file.read_text(encoding="utf-8") == "# Rules\n"


def test_a_memory_file_without_a_secret_is_written(agent: Agent) -> None:
    agent.does(Call("Read", {"file_path": str(agent.memory_file)}), written(agent.memory_file, "# New rules\n"))
    assert agent.memory_file.read_text(encoding="utf-8") == "# New rules\n"


def test_a_secret_is_not_edited_into_a_memory_file_and_can_be_edited_out_of_it(agent: Agent) -> None:
    read = Call("Read", {"file_path": str(agent.memory_file)})
    edit = {"file_path": str(agent.memory_file), "old_string": "# Rules", "new_string": f"# {token()}"}
    assert "new_string" in agent.is_refused(read, Call("Edit", edit))
    agent.memory_file.write_text(f"# {token()}\n", encoding="utf-8")
    agent.does(read, Call("Edit", {**edit, "old_string": f"# {token()}", "new_string": "# Rules"}))
    assert agent.memory_file.read_text(encoding="utf-8") == "# Rules\n"


def test_a_command_appends_no_secret_to_a_memory_file(agent: Agent) -> None:
    command = f"echo {token()} >> AGENTS.md"
    assert "github.token in command" in agent.is_refused(Call("Bash", {"command": command, "description": "note"}))
    assert not (agent.project / "AGENTS.md").exists()


def test_a_command_appends_to_a_memory_file(agent: Agent) -> None:
    agent.does(Call("Bash", {"command": "echo Deploys are blue. >> AGENTS.md", "description": "note"}))
    assert (agent.project / "AGENTS.md").read_text(encoding="utf-8") == "Deploys are blue.\n"


def test_source_code_with_a_key_is_not_the_guards_business(agent: Agent) -> None:
    source = agent.project / "example.py"
    agent.does(written(source, f'KEY = "{token()}"\n'))
    assert token() in source.read_text(encoding="utf-8")


def test_a_file_that_the_user_names_is_guarded(agent: Agent, user: Claude) -> None:
    user.memories.mkdir(exist_ok=True)
    (user.memories / "config.toml").write_text('guard.paths = ["*.notes"]\n', encoding="utf-8")
    notes = agent.project / "my.notes"
    assert "github.token" in agent.is_refused(written(notes, token()))
    assert not notes.exists()


def test_the_guard_can_be_switched_off(agent: Agent, user: Claude) -> None:
    user.memories.mkdir(exist_ok=True)
    (user.memories / "config.toml").write_text("guard.enabled = false\n", encoding="utf-8")
    agent.does(entities(f"The token is {token()}"))
    assert token() in agent.kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("scanner/keepmum_scanner/scan.py", id="the scanner"),
        pytest.param("hooks/keepmum_hooks/guard.py", id="the guard"),
        pytest.param("hooks/keepmum_hooks/system.py", id="every hook"),
    ],
)
def test_a_broken_guard_forbids_writing_to_memories_and_nothing_else(
    agent: Agent, product: Path, tmp_path: Path, broken: str
) -> None:
    (product / broken).write_text("raise RuntimeError('planted')\n", encoding="utf-8")
    source = tmp_path / "project" / "main.py"
    (after_entities,) = agent.does(entities("They go through the pool."))
    (after_file,) = agent.does(written(agent.project / "AGENTS.md", "Deploys are blue.\n"))
    (after_source,) = agent.does(written(source, SOURCE))
    assert all("could not check" in "".join(request.errors()) for request in (after_entities, after_file))
    assert agent.kept.read_text(encoding="utf-8") == ""
    assert not (agent.project / "AGENTS.md").exists()
    assert after_source.errors() == []
    assert source.read_text(encoding="utf-8") == SOURCE


def test_where_the_guard_cannot_run_the_other_server_is_not_called(agent: Agent, user: Claude) -> None:
    (user.home / "bin" / "python3").rename(user.home / "bin" / "python3-moved")
    agent.has_server(str(user.home / "bin" / "python3-moved"), *agent.server_arguments)
    user.environ["PATH"] = f"{user.home / 'bin'}"
    (after_entities,) = agent.does(entities("They go through the pool."))
    (after_source,) = agent.does(written(agent.project / "main.py", SOURCE))
    assert after_entities.errors()
    assert agent.kept.read_text(encoding="utf-8") == ""
    assert (agent.project / "main.py").read_text(encoding="utf-8") == SOURCE
    assert after_source.errors() == []
