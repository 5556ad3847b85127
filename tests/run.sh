#!/bin/sh
# Set up what the tests need in .venv and .cache of this clone, then run them: sh tests/run.sh [pytest arguments]
# Needs python3 (3.11 or newer) and nothing else; with npm the real clients are tested too.
set -eu
cd "$(dirname "$0")/.."

die() {
    printf 'tests/run.sh: %s\n' "$1" >&2
    exit 1
}

# An interpreter is found by running it: a name on PATH may be a stub that does nothing.
find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python "${HOME:-}"/.local/bin/python3 /opt/homebrew/bin/python3 /usr/local/bin/python3; do
        if found=$("$candidate" -c 'import sys; assert sys.version_info >= (3, 11); sys.stdout.write(sys.executable)' 2>/dev/null); then
            printf '%s\n' "$found"
            return
        fi
    done
    return 1
}

lock=installers/locks/dev.txt
stamp=.venv/.installed
bin=.venv/bin
case $(uname -s) in MINGW* | MSYS* | CYGWIN*) bin=.venv/Scripts ;; esac
if ! cmp -s "$lock" "$stamp"; then
    printf 'setting up .venv (about a minute, once)\n'
    if command -v uv >/dev/null 2>&1; then
        [ -x "$bin/python" ] || uv venv --quiet --python '>=3.11' .venv
        uv pip install --quiet --python "$bin/python" --require-hashes -r "$lock"
    else
        python=$(find_python) || die "no Python 3.11 or newer was found; install one, or set PYTHON to it"
        [ -x "$bin/python" ] || "$python" -m venv .venv 2>/dev/null || {
            # Debian's python3 has no ensurepip without the package python3-venv; pip itself may still be there.
            rm -rf .venv
            "$python" -m venv --without-pip .venv || die "cannot make a virtual environment; on Debian: apt-get install python3-venv"
        }
        if "$bin/python" -m pip --version >/dev/null 2>&1; then
            "$bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
        elif "$python" -m pip --version >/dev/null 2>&1; then
            "$python" -m pip --python "$bin/python" install --quiet --disable-pip-version-check --require-hashes -r "$lock"
        else
            die "pip is missing; on Debian: apt-get install python3-venv"
        fi
    fi
    cp "$lock" "$stamp"
fi

exec "$bin/python" -m pytest -n auto --dist worksteal "$@"
