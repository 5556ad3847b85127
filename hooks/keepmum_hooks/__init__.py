"""Hooks: what runs in a client when a session starts and when a turn ends.

A hook is a process of its own, and the user waits for it; so every module here imports built-in modules and `os`
only, and the rest where it is needed. They run on Python 3.9, which is what macOS gives to programs started by hand.

    main            one hook run: payload in, answer out
    event           the seam between clients: what happened, in one value
    claude_code     Claude Code's payloads and answers
    switches        whether and how often, from environment, marker and files
    stop, turns     the capture reminder and how turns are counted
    start, sweep    the briefing of a new session, and the broom for old ones
    places, files   where state lies, and how it is touched
    payload         JSON without the json package
"""
