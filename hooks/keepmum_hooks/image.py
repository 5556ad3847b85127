"""The modules of a run in one file: to find and open forty of them takes longer than to execute them all.

A run notes what it imports and keeps that as an image, one for each stage of a run; the next run executes the image
and leaves the import system alone. With the modules go the scanner's expressions as they were compiled, so that
neither the compiler nor `re` is loaded.

    <home>/cache/images/<stage>-<interpreter>-<place of this copy>

An image lies beside the bytecode cache, and is as private and as good as that. `runner.py` reads it, and takes it for
none when anything speaks against it: then the modules are imported from their files, and the image is made anew.
"""

import marshal
import sys  # built in, both: an image executes this module before any other is there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import CodeType, ModuleType
    from typing import Any

    # Name, source file, when that was written, its bytes, whether it is a package, and where its code begins: how many
    # bytes from the end of the image. Each is marshalled by itself, and loaded from where it lies.
    Module = tuple[str, str, float, int, bool, int]
    # Interpreter, modules in the order in which they were done, expressions as they were compiled, and all bytes.
    Kept = tuple[str, tuple[Module, ...], Mapping[str, Any], memoryview]
    Made = tuple[str, str, float, int, bool, bytes]  # a module with its code instead

__all__ = ["FORMAT", "begin", "discard", "enter", "keep"]

FORMAT = 1  # the key of the sum over an image: another one for another form of `Kept`
# The last two are files of the standard library that our modules ask for.
_OURS = ("keepmum_hooks", "keepmum_scanner", "__future__", "bisect")
_EXPRESSIONS = "keepmum_scanner.expressions"

_stages: "list[_Stage]" = []  # empty in a process that keeps no images
_path: "Callable[[str], str]"
_read: "Callable[[str], Kept | None]"


def begin(stage: str, kept: "Kept | None", path: "Callable[[str], str]", read: "Callable[[str], Kept | None]") -> None:
    """Make the modules ready that were kept for the first stage of a run, and note what else it imports.

    Args:
        stage: the name of the stage.
        kept: what its image keeps, or None.
        path: where the image of a stage lies.
        read: what such a file keeps, or None for nothing.
    """
    global _path, _read
    _path, _read = path, read
    sys.meta_path.insert(0, _RECORDER)
    _stages.append(_Stage(stage, kept))
    _stages[-1].load()


def enter(stage: str) -> None:
    """Make the modules ready that were kept for the next stage of a run; without images, nothing."""
    if _stages:
        _stages.append(_Stage(stage, _read(_path(stage))))
        _stages[-1].load()


def keep() -> None:
    """Keep what this run imported and compiled beyond its images, if it can be done: the answer is given already."""
    try:
        if _RECORDER in sys.meta_path:
            sys.meta_path.remove(_RECORDER)  # what is imported from here on, no later run needs
        if _stages and not _stages[0].modules:
            # This module and its package were there before the first could be noted.
            _stages[0].made[:0] = [_module(name, sys.modules[name].__loader__) for name in (__name__, _OURS[0])]
        for stage in _stages:
            stage.keep()
    except BaseException:  # noqa: BLE001 - a full disk, a damaged file, a person's Ctrl-C: the next run tries again
        return


def discard() -> None:
    """Let no later run use the images of this one: something went wrong, and it may be they."""
    from keepmum_hooks import files

    for stage in _stages:
        files.remove(_path(stage.name))
    _stages.clear()


class _Stage:
    """One stage of a run: what was kept for it, and what it imported besides."""

    __slots__ = ("bytes", "codes", "made", "modules", "name")

    def __init__(self, name: str, kept: "Kept | None") -> None:
        self.name = name
        _, self.modules, self.codes, self.bytes = kept or ("", (), {}, memoryview(b""))
        self.made: list[Made] = []

    def load(self) -> None:
        """Make ready what was kept; all or nothing."""
        there = set(sys.modules)
        try:
            _execute(self.modules, self.bytes)
            if self.codes:
                sys.modules[_EXPRESSIONS].recall(self.codes)
        except Exception:  # noqa: BLE001 - whatever it is, importing will say
            for name in {module[0] for module in self.modules} - there:
                sys.modules.pop(name, None)
            self.modules, self.codes = (), {}

    def keep(self) -> None:
        """Write the image again, if there is more to keep than it holds."""
        codes = dict(self.codes)
        has_expressions = any(module[0] == _EXPRESSIONS for module in (*self.modules, *self.made))
        compiled = sys.modules[_EXPRESSIONS].compiled_here() if has_expressions else ()
        if compiled:
            from keepmum_scanner.expression_codes import codes_of

            codes.update(codes_of(compiled))
        if self.made or len(codes) > len(self.codes):
            from _imp import source_hash

            from keepmum_hooks import files

            body = _image([*_unpacked(self.modules, self.bytes), *self.made], codes)
            files.replace(_path(self.name), source_hash(FORMAT, body) + body)


def _image(made: "Sequence[Made]", codes: "Any") -> bytes:
    """The image of the modules, without its sum."""
    left = sum(len(module[-1]) for module in made)
    modules: list[Any] = []
    for *facts, code in made:
        modules.append((*facts, left))
        left -= len(code)
    return marshal.dumps((sys.version, tuple(modules), codes)) + b"".join(module[-1] for module in made)


def _unpacked(modules: "Sequence[Module]", image: memoryview) -> "list[Made]":
    ends = [*(module[-1] for module in modules[1:]), 0]
    return [
        (*module[:-1], bytes(image[len(image) - module[-1] : len(image) - end])) for module, end in zip(modules, ends)
    ]


def _execute(modules: "Sequence[Module]", image: memoryview) -> None:
    """Execute those that are not there, in their order, in which each comes behind those that it imports."""
    new = [module for module in modules if module[0] not in sys.modules]
    for name, file, _, _, is_package, _ in new:
        made = sys.modules[name] = type(sys)(name)
        made.__file__ = file
        if is_package:
            made.__path__ = [file.replace("\\", "/").rpartition("/")[0]]
    for name, *_, place in new:
        exec(marshal.loads(image[-place:]), sys.modules[name].__dict__)  # noqa: S102, S302 - as the import system does
        package, _, child = name.rpartition(".")
        if package:
            setattr(sys.modules[package], child, sys.modules[name])


class _Recorder:
    """The first of the import system's finders: finds by the others, and sees to it that our modules are noted."""

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        """What the finders behind this one find."""
        if name.partition(".")[0] not in _OURS:
            return None
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in behind)), None)
        if spec is not None and type(spec.loader).__name__ == "SourceFileLoader":
            spec.loader = _Loader(spec.loader)  # type: ignore[arg-type,assignment]  # a loader by what it can do
        return spec


_RECORDER = _Recorder()


class _Loader:
    """Executes a module as the loader of source files does, and notes it for the stage that imports it."""

    def __init__(self, loader: "SourceFileLoader") -> None:
        self._loader = loader

    def create_module(self, _spec: "ModuleSpec") -> None:
        """Leave it to the import system."""

    def exec_module(self, module: "ModuleType") -> None:
        """Execute the module, and note it when it is done, which is behind all that it imports."""
        stage, noted = _stages[-1], _module(module.__name__, self._loader)
        exec(marshal.loads(noted[-1]), module.__dict__)  # noqa: S102, S302 - as the import system does
        stage.made.append(noted)


def _module(name: str, loader: "Any") -> "Made":
    """The module as it is to be kept; its time is taken first, so that a change meanwhile is seen later on."""
    stats = loader.path_stats(loader.path)
    code = marshal.dumps(_bare(loader.get_code(name)))
    return (name, loader.path, stats["mtime"], int(stats["size"]), loader.is_package(name), code)


def _bare(code: "CodeType") -> "CodeType":
    """The code without what only tracebacks and help have a use for: a fifth of it, and nobody sees those of a hook."""
    consts = tuple(_bare(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    lines = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    return code.replace(co_consts=consts, **{lines: b""})  # type: ignore[arg-type]  # a name that depends on the version
