#!/bin/sh
# Finds a Python that can run Keepmum and starts the installer, which shows its plan and executes it.
# POSIX sh: it runs in dash, in the shell of busybox and in the one of macOS.

set -u

usage() {
	cat <<'TEXT'
usage: sh installers/install.sh [options]

Installs Keepmum in the coding agents on this machine, and demonstrates that it works.

  --scope user|project|local  for you everywhere (default), for the team of the repository you are in, or for you in it
  --source WHERE              a folder, owner/repository or git address to take the plugin from
  --client NAME               only this client instead of every one that is found; may be repeated
  --set NAME=VALUE            with --scope project: a setting for everybody, in .keepmum.toml; may be repeated
  --share-key                 with --scope project: put your key for its server into the settings that the team commits
  --no-runtime                install no packages; the core needs none
  --no-semantic               lexical search only: without 90 MB of packages and a model of 84 MB
  --dry-run                   show what would be done
  --uninstall                 undo what was installed; memories stay
  --purge                     with --uninstall: remove memories, backups and settings too
  --yes                       with --purge: do not ask
  --help                      this text

KEEPMUM_PYTHON names the Python to use, KEEPMUM_HOME the folder for everything (default: ~/.keepmum).
Exit code: 0 done, 1 failed with a message, 2 wrong usage.
TEXT
}

# Prints the full path of the interpreter, or what it lacks: a new enough version, and an SQLite with full-text search.
# The name proves nothing: `python3` may be a stub for an app store, a shim without a version, or a build without SQLite.
probe='
import sys
if sys.version_info < (3, 11):
    sys.exit("is %d.%d" % sys.version_info[:2])
try:
    import sqlite3
    sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5(x)")
except Exception:
    sys.exit("has no SQLite with full-text search")
sys.stdout.write(sys.executable)  # print would add a carriage return on Windows
'

# Prints one candidate per line: KEEPMUM_PYTHON alone, else those on PATH, then those in usual folders.
candidates() {
	if [ -n "${KEEPMUM_PYTHON:-}" ]; then
		printf '%s\n' "$KEEPMUM_PYTHON"
		return
	fi
	for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
		command -v "$name"
	done
	# The launcher of Windows, which finds installations that are not on PATH.
	command -v py >/dev/null 2>&1 && py -3 -I -c 'import sys; sys.stdout.write(sys.executable + "\n")' 2>/dev/null
	for path in /opt/homebrew/bin/python3 /usr/local/bin/python3 /usr/bin/python3 \
		"${HOME:-}"/.local/bin/python3.1[1-9] \
		"${HOME:-}"/.local/share/uv/python/*/bin/python3 \
		"${HOME:-}"/.pyenv/versions/*/bin/python3; do
		[ -x "$path" ] && printf '%s\n' "$path"
	done
}

# macOS has a stub at /usr/bin/python3: without the developer tools it opens a dialog instead of running.
is_stub() {
	[ "$1" = /usr/bin/python3 ] && [ "$(uname -s)" = Darwin ] && ! xcode-select -p >/dev/null 2>&1
}

# Sets python to the first candidate that passes the probe, and tried to the faults of the others.
find_python() {
	tried=''
	while IFS= read -r candidate; do
		if is_stub "$candidate"; then
			said='only offers to install the developer tools'
		elif said=$("$candidate" -I -S -c "$probe" 2>&1); then
			# The last line: an interpreter may have printed warnings before.
			python=$(printf '%s\n' "$said" | tail -n 1)
			[ -x "$python" ] && return 0
		fi
		said=$(printf '%s\n' "$said" | tail -n 1)
		tried="$tried
  $candidate ${said:-does not run}"
	done <<LIST
$(candidates)
LIST
	return 1
}

explain_no_python() {
	{
		echo 'keepmum: no Python 3.11 or newer was found. Tried:'"${tried:-
  nothing: there is no Python on PATH}"
		echo '  next: install one, then run this again:'
		case $(uname -s) in
		Darwin) echo '    brew install python' ;;
		Linux) echo '    your package manager has it: sudo apt install python3, sudo dnf install python3, sudo apk add python3' ;;
		esac
		echo '    or, without administrator rights: uv python install 3.13'
		echo '    or name one that you have: KEEPMUM_PYTHON=/path/to/python3 sh installers/install.sh'
	} >&2
}

verb=install
for argument; do
	shift
	case $argument in
	--uninstall) verb=uninstall ;;
	-h | --help)
		usage
		exit 0
		;;
	*) set -- "$@" "$argument" ;;
	esac
done

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 1
if ! find_python; then
	explain_no_python
	exit 1
fi
# -B: no byte code in the clone, since some clients withdraw their trust when the folder of a plugin changes.
exec "$python" -B -I -S "$here" "$verb" "$@"
