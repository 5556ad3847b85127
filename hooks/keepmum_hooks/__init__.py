"""Hooks that clients run when a session starts, when a turn ends, and before a tool is used.

A hook is a separate process that the user waits for, so modules import only built-in modules at import time and
everything else where it is needed. Hooks run on Python 3.9, the version that macOS gives to desktop programs.

    main                    one hook run: payload in, answer out
    event                   what a client reports: an event or a tool call
    clients                 the registry of clients; one module for each client's payloads and answers
    stop, turns             when a turn gets the capture prompt
    capture_prompt          the words of the capture prompt
    start                   the briefing of a new session, and the removal of old state
    guard, guard_rules      which tool calls are blocked, and which are checked at all
    call_scan               the secrets in a tool call, without those on the allowlist
    module_cache            the scanner in one file, for the guard

The package is also the base layer of keepmum, whose server and commands import these modules:

    places                  where state is stored
    switches, toml_lines    which features are on, read from environment, marker and settings files
    files, system           file access and system calls without `os`
    payload                 JSON without the json package
"""
