"""Keepmum: one memory that coding agents share and that never keeps a secret."""
