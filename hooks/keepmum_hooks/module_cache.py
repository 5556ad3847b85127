"""The scanner's modules and compiled expressions in one file, for guard runs that scan a text.

With plain bytecode such a run takes 3.0 times a bare interpreter, with cached expressions 1.9 times, and with this
cache 1.5 times: importing 30 modules one by one costs more than executing them. Stop, SessionStart and guard runs that
scan nothing take 1.2 times with plain bytecode, so nothing else is cached.

    <home>/cache/modules/<interpreter>-<hash of the plugin's folder>

The file is a checksum, then the interpreter's version, the modules in the order in which their imports completed, and
the expressions. Modules that few texts need are executed when something imports them. The file is trusted like
bytecode: when another user can write it or a folder above it, or checksum, version, or the time or size of any source
differ, the modules are imported from their files and the cache is rewritten.
"""

from __future__ import annotations

import marshal
import sys
from _imp import source_hash

from keepmum_hooks import files, places
from keepmum_hooks.home import is_private
from keepmum_hooks.system import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

    # Name, source file, its modification time and size, whether it is a package, and its code; marshalled if rare.
    Module = tuple[str, str, float, int, bool, Any]

__all__ = ["discard", "load", "save"]

_KEY = 1  # of the checksum; change it when the format changes
_SUM = 8  # bytes
_LIMIT = 8 << 20  # bytes, many times the size of the scanner
_MODULES = ("keepmum_scanner", "keepmum_hooks.call_scan")  # and all modules below the first
_ON_DEMAND = frozenset(
    "keepmum_scanner." + name
    for name in (
        "allowlist assigning_words base64_blocks bulk command_values composed_passwords evidence html_cells "
        "identifier_words kubernetes_secrets labels named_values pem pins possible record_names records "
        "recovery_codes seed_words tables tree_table trees whole_values"
    ).split()
)
_EXPRESSIONS = "keepmum_scanner.expressions"


class _State:
    """What this process loaded, and where it came from."""

    path = ""  # "" until `load` was called
    modules: tuple[Module, ...] = ()
    expressions: Mapping[str, Any] = {}


def load(home: str) -> None:
    """Execute the cached modules and restore the cached expressions; without a usable cache do nothing."""
    if "keepmum_scanner" in sys.modules:
        return
    _State.path = _path(home)
    modules, expressions = _read(_State.path) if is_private(places.module_cache_folder(home), home) else ((), {})
    try:
        _execute(modules)
        if expressions:
            sys.modules[_EXPRESSIONS].load_codes(expressions)
    except Exception:  # noqa: BLE001 - importing the modules will show what is wrong
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _OnDemand)]
        for name, *_ in modules:
            sys.modules.pop(name, None)
        return
    _State.modules, _State.expressions = modules, expressions


def save() -> None:
    """Write the cache when this run imported or compiled more than it holds; errors are ignored."""
    try:
        if _State.path:
            _save()
    except BaseException:  # noqa: BLE001 - a full disk, a damaged file, Ctrl-C: the answer is out, the next run tries again
        return


def discard() -> None:
    """Remove the cache that this run used: it may be the cause of a failure."""
    if _State.path:
        files.remove(_State.path)
        _State.path = ""


def _path(home: str) -> str:
    install = source_hash(_KEY, __file__.encode("utf-8", "surrogateescape")).hex()
    return f"{places.module_cache_folder(home)}/{sys.hexversion:x}-{install}"


def _read(path: str) -> tuple[tuple[Module, ...], Mapping[str, Any]]:
    """The modules and expressions in the file; both empty when there is no file or it cannot be trusted."""
    raw = memoryview(files.read(path, _LIMIT, private=True) or b"")
    try:
        if raw[:_SUM] == source_hash(_KEY, raw[_SUM:]):
            version, modules, expressions = marshal.loads(raw[_SUM:])  # noqa: S302 - private and ours, like bytecode
            if version == sys.version and not any(map(_is_stale, modules)):
                return modules, expressions
    except Exception:  # noqa: BLE001, S110 - a damaged cache: the source files have the same content
        pass
    return (), {}


def _is_stale(module: Module) -> bool:
    status = calls.stat(module[1])
    return (status.st_mtime, status.st_size) != module[2:4]


class _OnDemand:
    """Finds and executes the cached modules that few texts need."""

    def __init__(self, modules: tuple[Module, ...]) -> None:
        self._modules = {module[0]: module for module in modules}

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        spec: Any = type(sys.__spec__)
        return spec(name, self) if name in self._modules else None

    def create_module(self, _spec: ModuleSpec) -> None:
        """A module of the usual type."""

    def exec_module(self, module: ModuleType) -> None:
        _, module.__file__, *_, code = self._modules[module.__name__]
        exec(marshal.loads(code), module.__dict__)  # noqa: S102, S302 - as the import system does


def _execute(modules: tuple[Module, ...]) -> None:
    finder: Any = _OnDemand(tuple(module for module in modules if module[0] in _ON_DEMAND))
    sys.meta_path.insert(0, finder)
    modules = tuple(module for module in modules if module[0] not in _ON_DEMAND)
    for name, file, _, _, is_package, _ in modules:
        module = sys.modules[name] = type(sys)(name)
        module.__file__ = file
        if is_package:
            module.__path__ = [file.replace("\\", "/").rpartition("/")[0]]
    for name, *_, code in modules:
        exec(code, sys.modules[name].__dict__)  # noqa: S102 - as the import system does
        package, _, child = name.rpartition(".")
        if package:
            setattr(sys.modules[package], child, sys.modules[name])


def _save() -> None:
    cached = {module[0] for module in _State.modules}
    # The import system moves a module to the end of sys.modules when it is complete, so dependencies come first.
    names = [name for name in sys.modules if name.startswith(_MODULES) and name not in cached]
    compiled = sys.modules[_EXPRESSIONS].newly_compiled()
    expressions = dict(_State.expressions)
    if compiled:
        from keepmum_scanner.expression_codes import codes_of

        expressions.update(codes_of(compiled))
    if names or len(expressions) > len(_State.expressions):
        modules = (*_State.modules, *map(_module, names))
        body = marshal.dumps((sys.version, modules, expressions))
        files.replace(_State.path, source_hash(_KEY, body) + body)


def _module(name: str) -> Module:
    """The module as it is cached; its source's time is taken first, so that a later change is noticed."""
    spec = sys.modules[name].__spec__
    loader: Any = spec and spec.loader
    stats = loader.path_stats(loader.path)
    code = _without_lines(loader.get_code(name))
    kept = marshal.dumps(code) if name in _ON_DEMAND else code
    return (name, loader.path, stats["mtime"], int(stats["size"]), loader.is_package(name), kept)


def _without_lines(code: CodeType) -> CodeType:
    """The code without its line tables, a fifth of its size: hooks show no tracebacks."""
    constants = tuple(_without_lines(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    table = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    return code.replace(co_consts=constants, **{table: b""})  # type: ignore[arg-type]  # a name that depends on the version
