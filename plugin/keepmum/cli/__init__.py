"""The commands of `keepmum`, one module a family."""
