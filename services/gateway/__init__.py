"""The edge: who calls, what they may send, what they may see. It holds no game's code."""
