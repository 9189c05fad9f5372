"""Players made of code: they play through the same public door as people, and see what their seat sees."""
