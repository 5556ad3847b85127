#!/bin/sh
# Installs Keepmum for one user, from a clone (sh installers/install.sh) or from its releases (curl ... | sh).
# It never asks for administrator rights. POSIX sh: it runs in dash, in the shell of busybox and in the one of macOS.
# There are only functions up to the last line, which calls one: a half-downloaded script does nothing.

set -u

RELEASES=https://github.com/keepmum/keepmum/releases

usage() {
	cat <<'TEXT'
usage: sh installers/install.sh [options]
       curl -fsSL ADDRESS/install.sh | sh -s -- [options]

Installs Keepmum in the coding agents on this machine, and tries out that it works.

  --version VERSION           this version instead of the newest, or of the one in this folder
  --scope user|project|local  for you everywhere (default), for the team of the repository you are in, or for you in it
  --source WHERE              a folder, owner/repository or git address to take the plugin from
  --client NAME               only this client instead of every one that is found; may be repeated
  --set NAME=VALUE            with --scope project: a setting for everybody, in .keepmum.toml; may be repeated
  --share-key                 with --scope project: put your key for its server into the settings that the team commits
  --no-runtime                install no packages; the core needs none
  --no-semantic               lexical search only: without 90 MB of packages and a model of 84 MB
  --server                    also the packages of `keepmum serve`, a team's server
  --develop                   run this clone, which has to stay, instead of a copy
  --dry-run                   show what would be done
  -v, --verbose               name each file and command
  -q, --quiet                 only problems, and what you have to do
  --uninstall                 undo what was installed; memories stay
  --purge                     with --uninstall: remove memories, backups and settings too
  --yes                       with --purge: do not ask
  --help                      this text

KEEPMUM_SOURCE names another place for the code: a folder, a .tar.gz file or address, a git address, or an address with
the layout of the releases. KEEPMUM_SHA256 is the hash that the .tar.gz must have; otherwise the .sha256 file next to it is read.
KEEPMUM_PYTHON names the Python to use, KEEPMUM_HOME the folder for everything (default: ~/.keepmum).
Exit code: 0 done, 1 failed with a message, 2 wrong usage.
TEXT
}

# Prints a problem, and a next step if there is one; the exit code is 1.
fail() {
	printf 'keepmum: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf '  next: %s\n' "$2" >&2
	return 1
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
	command -v py >/dev/null 2>&1 &&
		py -3 -I -c 'import sys; sys.stdout.write(sys.executable + "\n")' 2>/dev/null </dev/null
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
		elif said=$("$candidate" -I -S -c "$probe" 2>&1 </dev/null); then
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

# Downloads an address to a file, over TLS except from this machine. curl and wget know the proxy and the certificates
# of the system; a Python may lack the latter.
download() {
	case $1 in
	https://*) allowed='=https' ;;
	http://127.0.0.1[:/]* | http://localhost[:/]* | http://\[::1\][:/]*) allowed='=http,https' ;;
	*)
		fail "$1 is not fetched: its address does not begin with https://"
		return
		;;
	esac
	if command -v curl >/dev/null 2>&1; then
		said=$(curl -fsSL --proto "$allowed" --connect-timeout 20 --speed-limit 1 --speed-time 60 -o "$2" "$1" 2>&1)
	elif command -v wget >/dev/null 2>&1; then
		said=$(wget -q -t 2 -T 60 -O "$2" "$1" 2>&1)
	else
		said=$("$python" -I -S -c "$fetch" "$1" "$2" 2>&1 </dev/null)
	fi || fail "could not fetch $1${said:+: $(printf '%s\n' "$said" | tail -n 1)}" \
		'check the connection and the proxy (https_proxy), or download it elsewhere: docs/install.md, Offline.'
}

fetch='
import shutil, sys, urllib.request
try:
    with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as file:
        shutil.copyfileobj(answer, file)
        if file.tell() != int(answer.headers.get("Content-Length", file.tell())):
            sys.exit("the connection was closed before the end")
except OSError as error:
    sys.exit(str(error))
'

# Checks the hash of an archive, writes its files below a folder, and prints the top folder.
unpack='
import hashlib, os, sys, tarfile, zlib
archive, wanted, folder = sys.argv[1:]
try:
    with open(archive, "rb") as file:
        content = file.read()
    found = hashlib.sha256(content).hexdigest()
    if wanted and found != wanted.lower():
        sys.exit("the archive is damaged or not the expected one: its SHA-256 is %s instead of %s" % (found, wanted))
    with tarfile.open(archive) as files:
        top = ""
        for member in files:
            parts = member.name.split("/")
            if not (member.isdir() or member.isreg()) or {"", ".", ".."} & {*parts}:
                sys.exit("the archive has an entry that is neither file nor folder: %s" % member.name)
            top = top or parts[0]
            path = os.path.join(folder, *parts)
            os.makedirs(path if member.isdir() else os.path.dirname(path), 0o700, exist_ok=True)
            if member.isreg():
                with open(path, "xb") as file:
                    file.write(files.extractfile(member).read())
    if not os.path.isfile(os.path.join(folder, top, "installers", "__main__.py")):
        sys.exit("the archive holds no Keepmum")
    sys.stdout.write(os.path.join(folder, top))
except (tarfile.TarError, EOFError, zlib.error):
    sys.exit("the archive is damaged or incomplete")
except OSError as error:
    sys.exit("the archive could not be unpacked: %s" % error.strerror)
'

# Prints the hash of a file with this name in a list as sha256sum writes it, or the only one when there are no names.
hash_of() {
	while read -r hash name; do
		name=${name#\*}
		if [ "$name" = "$2" ] || [ -z "$name" ]; then
			printf '%s\n' "$hash"
			return
		fi
	done <"$1"
	return 1
}

# Prints the version of the archive in a list of hashes.
version_in() {
	while read -r _ name; do
		name=${name#\*}
		case $name in
		keepmum-[0-9]*.tar.gz)
			name=${name#keepmum-}
			printf '%s\n' "${name%.tar.gz}"
			return
			;;
		esac
	done <"$1"
	return 1
}

# Downloads the list of hashes of a release at an address with the layout of GitHub's; prints the release's version.
newest() {
	where=latest/download
	[ -z "$version" ] || where=download/v$version
	download "$source/$where/SHA256SUMS" "$work/SHA256SUMS" || return
	found=$(version_in "$work/SHA256SUMS") || fail "$source/$where/SHA256SUMS names no release" || return
	if [ "${version:-$found}" != "$found" ]; then
		fail "$source/$where/SHA256SUMS names version $found"
		return
	fi
	printf '%s\n' "$found"
}

# Sets bundle to a folder with the code from the source, below the work folder unless the source is a folder.
get() {
	case $source in
	*.tar.gz)
		archive=$source
		case $source in
		*://*)
			download "$source" "$work/archive" || return
			[ -n "$sha256" ] || download "$source.sha256" "$work/hash" || return
			archive=$work/archive
			;;
		*) [ ! -f "$source.sha256" ] || cp "$source.sha256" "$work/hash" || return ;;
		esac
		if [ -z "$sha256" ] && [ -f "$work/hash" ]; then
			sha256=$(hash_of "$work/hash" "${source##*/}") || fail "$source.sha256 has no hash for it" || return
		fi
		;;
	*.git | *.git/ | git@* | ssh://*)
		get_by_git
		return
		;;
	*://*)
		version=$(newest) || return
		[ -n "$sha256" ] || sha256=$(hash_of "$work/SHA256SUMS" "keepmum-$version.tar.gz") || return
		archive=$work/archive
		download "$source/download/v$version/keepmum-$version.tar.gz" "$archive" || return
		;;
	*)
		if [ ! -f "$source/installers/__main__.py" ]; then
			fail "$source holds no Keepmum" 'name a clone, an unpacked release, or a .tar.gz file.'
			return
		fi
		bundle=$(CDPATH='' cd -- "$source" && pwd -P)
		return
		;;
	esac
	bundle=$("$python" -B -I -S -c "$unpack" "$archive" "$sha256" "$work" 2>"$work/said" </dev/null) ||
		fail "$(tail -n 1 "$work/said")" "nothing was changed; fetch it again from $source"
}

get_by_git() {
	if ! command -v git >/dev/null 2>&1; then
		fail "git is needed for $source and was not found" 'install it, or name an archive in KEEPMUM_SOURCE.'
		return
	fi
	bundle=$work/clone
	git -c advice.detachedHead=false clone -q --depth 1 ${version:+--branch "v$version"} -- "$source" "$bundle" \
		</dev/null || fail "git could not fetch $source${version:+ at v$version}"
}

# The version that a folder with the code names.
version_of() {
	sed -n 's/^version = "\(.*\)"$/\1/p' "$1/pyproject.toml"
}

show_plan() {
	echo 'Keepmum will be installed for you only, without administrator rights:'
	case $source in
	*://* | git@*) echo "  fetch it from $source${version:+, version $version}, and check it" ;;
	*) echo "  take it from $source${version:+, version $version}" ;;
	esac
	echo "  copy it to ${KEEPMUM_HOME:-~/.keepmum}/app, and add it to the coding agents that are found"
}

# Does as `install` from the source, in a temporary folder that is removed at the end.
install_from_source() {
	work=$(mktemp -d) || return
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' HUP INT TERM
	get || return
	found=$(version_of "$bundle")
	if [ -n "$version" ] && [ "$version" != "$found" ]; then
		fail "$source has version ${found:-unknown}, not $version"
		return
	fi
	case $bundle in "$work"/*)
		if [ -n "$develop" ]; then
			fail '--develop needs a folder that stays' 'clone the repository and run its installers/install.sh --develop.'
			return
		fi
		;;
	esac
	# The origin is where `keepmum upgrade` looks later.
	case ${KEEPMUM_SOURCE:-} in
	*://* | git@*) set -- --origin "$source" "$@" ;;
	'') set -- --origin '' "$@" ;;
	esac
	"$python" -B -I -S "$bundle/installers" install "$@" </dev/null
}

# Sets here to the folder of this script when it is a file of a bundle; the name keeps what a piped script is called
# from choosing a file in the working folder.
find_bundle() {
	here=''
	case $0 in
	*install.sh) ;;
	*) return ;;
	esac
	folder=$(CDPATH='' cd -- "$(dirname -- "$0")" 2>/dev/null && pwd -P) || return
	[ ! -f "$folder/__main__.py" ] || [ ! -f "$folder/keepmum_installers/install.py" ] || here=$folder
}

# Runs what is installed; there is no bundle to uninstall with.
uninstall_installed() {
	if [ -n "${KEEPMUM_HOME:-}" ]; then # a project's settings may set it, and code of theirs must not be run
		fail 'KEEPMUM_HOME is set, so it is not clear which installation is meant' "run: $KEEPMUM_HOME/bin/keepmum uninstall"
		return
	fi
	own=$HOME/.keepmum/app/current/installers
	if [ ! -f "$own/__main__.py" ]; then
		fail "nothing to remove: there is no $own" 'name the folder that it was installed from: KEEPMUM_SOURCE.'
		return
	fi
	"$python" -B -I -S "$own" uninstall "$@"
}

main() {
	verb=install
	version=''
	sha256=${KEEPMUM_SHA256:-}
	source=${KEEPMUM_SOURCE:-}
	only=''
	folder_for=''
	quiet=''
	develop=''
	previous=''
	for argument; do
		shift
		case $previous in
		--version) version=$argument ;;
		--unpack) folder_for=$argument ;;
		esac
		if [ -n "$previous" ]; then
			previous=''
			continue
		fi
		case $argument in
		--uninstall) verb=uninstall ;;
		--version | --unpack) previous=$argument ;;
		--version=*) version=${argument#*=} ;;
		--newest) only=newest ;;
		-h | --help)
			usage
			exit 0
			;;
		-q | --quiet)
			quiet=yes
			set -- "$@" "$argument"
			;;
		--develop)
			develop=yes
			set -- "$@" "$argument"
			;;
		*) set -- "$@" "$argument" ;;
		esac
	done
	version=${version#v}
	if [ -n "$previous" ]; then
		echo "install.sh: error: argument $previous: expected one argument" >&2
		exit 2
	fi
	find_bundle
	if ! find_python; then
		explain_no_python
		exit 1
	fi
	if [ -n "$here" ] && [ -z "$source$version$only$folder_for" ]; then
		# -B: no byte code in the clone, since some clients withdraw their trust when the folder of a plugin changes.
		exec "$python" -B -I -S "$here" "$verb" "$@"
	fi
	if [ -z "${HOME:-}${KEEPMUM_HOME:-}" ]; then
		fail 'there is no folder to keep memories in: HOME is not set' 'Set HOME, or KEEPMUM_HOME, to a full path.'
		exit 1
	fi
	if [ "$verb" = uninstall ]; then
		uninstall_installed "$@"
		exit
	fi
	source=${source:-$RELEASES}
	source=${source%/}
	if [ -n "$only$folder_for" ]; then # for `keepmum upgrade`
		answer_upgrade
		exit
	fi
	[ -n "$quiet" ] || show_plan
	install_from_source "$@"
	exit
}

# Prints the newest version of the source, or the folder that its code was put into: a folder of the caller's.
answer_upgrade() {
	work=${folder_for:-$(mktemp -d)} || return
	[ -n "$folder_for" ] || trap 'rm -rf "$work"' EXIT
	case $only$source in
	newest*.tar.gz | newest*.git | newestgit@* | newestssh://*) get && version_of "$bundle" ;;
	newest*://*) newest ;;
	*) get && if [ -n "$only" ]; then version_of "$bundle"; else printf '%s\n' "$bundle"; fi ;;
	esac
}

{ main "$@"; }
