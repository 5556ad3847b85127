"""Source files in five languages from one model, and edits of that model; so what an edit does is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

__all__ = ["EDITS", "LANGUAGES", "Chosen", "Edit", "Function", "Project", "new_project", "rendered"]

WORDS = "load parse fetch merge index flush check route store apply token value queue retry limit frame batch".split()


@dataclass(frozen=True, slots=True)
class Function:
    """A function, or a method when it has an owner; its body is a list of statements."""

    name: str
    owner: str
    body: tuple[str, ...]
    notes: tuple[str, ...] = ()  # comments above and inside
    is_spaced: bool = False

    @property
    def symbol(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Project:
    """Files with functions, in order."""

    files: Mapping[str, tuple[Function, ...]]
    headers: Mapping[str, int]  # lines of comments that each file starts with


@dataclass(frozen=True, slots=True)
class Edit:
    """A project after one edit, and what became of the edited function."""

    after: Project
    verdict: str
    path: str = ""  # where it is now, when it is gone
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class _Language:
    suffix: str
    comment: str  # what one starts with
    statements: tuple[str, ...]  # with {a} and {b} for words, {n} for a number
    render: Callable[[tuple[Function, ...]], list[str]]


def _indented(lines: list[str], by: str) -> list[str]:
    return [by + line if line else "" for line in lines]


def _by_owner(functions: tuple[Function, ...]) -> list[tuple[str, list[Function]]]:
    grouped: dict[str, list[Function]] = {}
    for each in functions:
        grouped.setdefault(each.owner or f" {each.name}", []).append(each)
    return [(owner.strip() if not owner.startswith(" ") else "", members) for owner, members in grouped.items()]


def _body(each: Function, comment: str, indent: str) -> list[str]:
    lines = [line for statement in each.body for line in (statement.split("\n") + ([""] if each.is_spaced else []))]
    inside = [f"{comment} {note}" for note in each.notes[1:]]
    return _indented([*inside, *lines], indent)


def _braced(
    head: Callable[[Function], str], opening: str, indent: str = "    "
) -> Callable[[tuple[Function, ...]], list[str]]:
    """A renderer; `opening` is the line before the methods of `{owner}`, empty where they stand by themselves."""

    def render(functions: tuple[Function, ...]) -> list[str]:
        out: list[str] = []
        for owner, members in _by_owner(functions):
            blocks: list[str] = []
            for each in members:
                above = [f"// {note}" for note in each.notes[:1]]
                blocks += [*above, *f"{head(each)} {{".split("\n"), *_body(each, "//", indent), "}", ""]
            within = [opening.replace("{owner}", owner), *_indented(blocks, indent), "}", ""]
            out += within if owner and opening else blocks
        return out

    return render


def _python(functions: tuple[Function, ...]) -> list[str]:
    out: list[str] = []
    for owner, members in _by_owner(functions):
        blocks: list[str] = []
        for each in members:
            above = [f"# {note}" for note in each.notes[:1]]
            head = (
                f"async def {each.name}(self, *, a=(1, 2)):"
                if owner
                else f"def {each.name}(\n    a,\n    b={{}},\n) -> dict:"
            )
            blocks += ["@traced", *above, *head.split("\n"), '    """Text."""', *_body(each, "#", "    "), ""]
        out += (
            [f"class {owner}(Base):", '    """Text: def fake():"""', "", *_indented(blocks, "    ")]
            if owner
            else blocks
        )
    return out


def _go_head(each: Function) -> str:
    receiver = f"(s *{each.owner}) " if each.owner else ""
    return f"func {receiver}{each.name}(a interface{{}}, b ...string) (map[string]int, error)"


def _script_head(each: Function) -> str:
    if each.owner:
        head = f"public async {each.name}<T extends {{ a: string }}>(a: T): Promise<{{ ok: boolean }}>"
        return f"@traced({{ a: 1 }})\n{head}"
    return f"export async function {each.name}(a: {{ b: number }}): Promise<void>"


def _rust_head(each: Function) -> str:
    return f"#[inline]\npub async fn {each.name}<'a, T>(a: &'a T) -> Result<Vec<T>, Error>\nwhere\n    T: Clone,\n"


def _java_head(each: Function) -> str:
    return f"@Override\npublic static <R> Map<String, R> {each.name}(List<R> a, @Valid int b) throws IOException"


LANGUAGES: dict[str, _Language] = {
    "python": _Language(
        "py",
        "#",
        (
            "{a} = {b}({n})",
            "if {a}:\n    return [{n}]",
            'text = """\ndef {b}():\n  } {"""',
            "for x in {a}({n}):\n    {b}(x, 'it # is')",
            "with {a}(\n    {n},\n) as f:\n    pass",
        ),
        _python,
    ),
    "typescript": _Language(
        "ts",
        "//",
        (
            "const {a} = {b}({n});",
            "if ({a} < {n}) {\n    return /[}\"']/.test({b});\n}",
            "const t{n} = `x ${{a}} } {`;",
            "for (const x of {a}) {\n    {b}(x, {\n        n: {n},\n    });\n}",
            "const f{n} = async (x: { n: number }) => { await {a}(x); };",
            "/* } */ {a}['{b}'] = \"}\";",
        ),
        _braced(_script_head, "export class {owner} extends Base {"),
    ),
    "go": _Language(
        "go",
        "//",
        (
            "{a} := {b}({n})",
            'if {a} > {n} {\n\treturn nil, errors.New("}")\n}',
            "for _, x := range {a} {\n\t{b}(x, '{', `}`)\n}",
            'm{n} := map[string]struct{}{\n\t"{a}": {},\n}',
        ),
        _braced(_go_head, "", "\t"),
    ),
    "rust": _Language(
        "rs",
        "//",
        (
            "let {a} = {b}({n});",
            'if {a} > {n} {\n    return Err("}".into());\n}',
            "match {a} { '{' => {n}, '\\'' => 2, _ => {b}() };",
            'let t{n}: &\'static str = r#"}"}"#;',
            "for x in {a}.iter() {\n    {b}(|y| { y + x });\n}",
        ),
        _braced(_rust_head, "impl<'a> {owner}<'a> {"),
    ),
    "java": _Language(
        "java",
        "//",
        (
            "int {a} = {b}({n});",
            'if ({a} > {n}) {\n    throw new Error("}");\n}',
            "char c{n} = '{'; /* } */",
            "for (int i = 0; i < {n}; i++) {\n    {b}(new int[] {{n}});\n}",
            "Map<String, List<Integer>> m{n} = {a}(x -> { return {b}(x); });",
        ),
        _braced(_java_head, "public final class {owner} extends Base {"),
    ),
}


def _filled(statement: str, rng: random.Random) -> str:
    for mark in ("{a}", "{b}"):
        statement = statement.replace(mark, f"{rng.choice(WORDS)}{rng.choice(WORDS).title()}")
    return statement.replace("{n}", str(rng.randrange(10, 10_000)))


def new_project(language: str, rng: random.Random) -> Project:
    """Three files with free functions and methods; names return as methods of several owners, as in real code."""
    files: dict[str, tuple[Function, ...]] = {}
    number = 0
    for file in range(3):
        functions: list[Function] = []
        for _ in range(6):
            number += 1
            is_free = language != "java" and rng.random() < 0.5
            owner = "" if is_free else f"{rng.choice(WORDS).title()}Box{file}{rng.randrange(2)}"
            name = f"{rng.choice(WORDS)}{rng.choice(WORDS).title()}" + ("" if rng.random() < 0.2 else str(number))
            body = tuple(_filled(rng.choice(LANGUAGES[language].statements), rng) for _ in range(rng.randrange(2, 7)))
            if all((name, owner) != (each.name, each.owner) for each in functions):
                functions.append(Function(name, owner, body))
        files[f"src/{rng.choice(WORDS)}{file}.{LANGUAGES[language].suffix}"] = tuple(functions)
    return Project(files, dict.fromkeys(files, 1))


def rendered(project: Project, language: str) -> dict[str, str]:
    """The text of each file."""
    comment = LANGUAGES[language].comment
    return {
        path: "\n".join([*[f"{comment} line"] * project.headers[path], "", *LANGUAGES[language].render(functions)])
        for path, functions in project.files.items()
    }


@dataclass(frozen=True, slots=True)
class Chosen:
    """The function that is edited, and where it is."""

    project: Project
    path: str
    one: Function
    language: str
    rng: random.Random

    def replaced(self, *new: Function) -> Project:
        """The project with other functions in its place."""
        functions = self.project.files[self.path]
        at = functions.index(self.one)
        files = {**self.project.files, self.path: (*functions[:at], *new, *functions[at + 1 :])}
        return replace(self.project, files=files)


def _rename(chosen: Chosen) -> Edit:
    new = replace(chosen.one, name=f"{chosen.one.name}Renamed")
    return Edit(chosen.replaced(new), "gone", chosen.path, new.symbol)


def _move(chosen: Chosen) -> Edit:
    target = chosen.rng.choice([each for each in chosen.project.files if each != chosen.path])
    removed = chosen.replaced()
    moved = replace(removed, files={**removed.files, target: (*removed.files[target], chosen.one)})
    return Edit(moved, "gone", target, chosen.one.symbol)


def _change(chosen: Chosen) -> Edit:
    body = list(chosen.one.body)
    statement = chosen.rng.choice(LANGUAGES[chosen.language].statements)
    body[chosen.rng.randrange(len(body))] = _filled(statement, chosen.rng)
    return Edit(chosen.replaced(replace(chosen.one, body=tuple(body))), "changed")


def _comment(chosen: Chosen) -> Edit:
    notes = ("See { the } docs: don't.", 'why: "it\'s" so {')
    return Edit(chosen.replaced(replace(chosen.one, notes=notes, is_spaced=chosen.rng.random() < 0.5)), "valid")


def _lines_above(chosen: Chosen) -> Edit:
    headers = {**chosen.project.headers, chosen.path: chosen.rng.randrange(2, 60)}
    return Edit(replace(chosen.project, headers=headers), "valid")


def _delete(chosen: Chosen) -> Edit:
    return Edit(chosen.replaced(), "gone")


EDITS: Mapping[str, Callable[[Chosen], Edit]] = {
    "rename": _rename,
    "move": _move,
    "change": _change,
    "comment": _comment,
    "lines above": _lines_above,
    "delete": _delete,
}
