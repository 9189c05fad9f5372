"""The transparency log: one writer among all instances, and everybody may read and check it."""
