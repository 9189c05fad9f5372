"""`grimoire audit --all`: a server's whole transparency log, every match in it, and whether the draws look drawn."""
