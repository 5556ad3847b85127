"""Values and pure functions of the memory model: no files, no settings, no imports from other packages of Keepmum."""
