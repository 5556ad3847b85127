"""The product's code in Keepmum's home: one folder for each version, and a link to the one that clients run."""
