"""Values and pure functions of the memory model: no I/O, no settings, no imports from other packages of Keepmum."""
