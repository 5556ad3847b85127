"""What a memory says about code, where that code is defined, and whether it still is as it was."""
