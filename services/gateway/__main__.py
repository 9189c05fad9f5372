"""`python -m gateway`: serves the edge."""

from grimoire.runtime.lifecycle import main

if __name__ == "__main__":
    main("gateway", "gateway.service:serve")
