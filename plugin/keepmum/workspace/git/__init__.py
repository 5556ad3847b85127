"""What a repository says about itself: branch, commit, remote and changed files."""
