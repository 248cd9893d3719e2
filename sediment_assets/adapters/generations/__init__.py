"""Generations on disk: what an export root holds, whether it is intact, what may go (docs/generations.md)."""
