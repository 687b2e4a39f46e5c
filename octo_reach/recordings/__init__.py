"""Recordings of messages as MCAP files (the `record` extra: mcap)."""
