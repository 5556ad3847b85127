"""Hooks: what runs in a client when a session starts, when a turn ends, and before a tool is used.

A hook is a process of its own, and the user waits for it; so every module here imports built-in modules only, and
the rest where it is needed. They run on Python 3.9, which is what macOS gives to programs started from the desktop.

    main                    one hook run: payload in, answer out
    event                   the seam between clients: what happened, in one value
    claude_code, codex, cursor, copilot, gemini, opencode
                            each client's payloads and answers
    switches, toml_lines    whether and how often, from environment, marker and files
    stop, turns, prompt     the reminder: when turns are due to it, and its words
    start, sweep            the briefing of a new session, and the broom for old ones
    guard, call, deadline   the guard: what may not be written, and that it never takes long
    guarded, patterns       what is a memory, by the names of tools and files
    allowed, personal       what a person has allowed, and that no agent does
    image                   what a run imports, in one file for the next run
    texts                   every text in a tool's input, with its place
    places, files, system   where state lies, how it is touched, and what `os` would have cost
    payload                 JSON without the json package
"""
