"""Facts about a git repository: branch, commit, remote and changed files."""
