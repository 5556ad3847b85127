"""Puts Keepmum into the clients on this machine, takes it out again, and says how it is doing."""
