"""Installs Keepmum in the clients on this machine, uninstalls it, and checks the installation."""
