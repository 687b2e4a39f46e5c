"""Pictures and animations of a run (the `plot` extra: matplotlib and pillow)."""
