"""Concurrent work inside one session."""
