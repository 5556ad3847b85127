"""The dashboard: what a person sees of the memory and does about it, in a browser and in a panel of a chat.

`views` and `changes` answer calls in JSON and know no transport. `http` serves them on this machine; `panel` offers
them to a client of the stdio server; a team server mounts `site` behind its own sign-in.
"""
