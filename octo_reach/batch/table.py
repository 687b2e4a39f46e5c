"""The table of a sweep: a row for every run and arm, as CSV or Parquet."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TextIO

from octo_reach.batch.measures import ArmMeasures

CSV = ".csv"
PARQUET = ".parquet"
SUFFIXES = (CSV, PARQUET)

Value = str | int | float | bool | None
"""What a table holds; None where there is nothing to tell."""


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        scene: what the scene was called when the sweep was asked for.
        seed: which scene like it was run; None for the scene itself.
        planner: what proposed the motion of the arms.
        units: 'pixel' or 'metre', of every length in the row.
        measures: what was measured of one arm; None where the run failed.
        error: why it failed; empty otherwise.
    """

    scene: str
    seed: int | None
    planner: str
    units: str
    measures: ArmMeasures | None
    error: str = ""

    def values(self) -> tuple[Value, ...]:
        """Give the values in the order of `COLUMNS`."""
        measures = self.measures
        measured = [
            None if measures is None else getattr(measures, field.name)
            for field in fields(ArmMeasures)
        ]
        head = (self.scene, self.seed, self.planner, self.units)
        return (*head, *measured, self.error or None)


COLUMNS: dict[str, str] = {
    "scene": "string",
    "seed": "int64",
    "planner": "string",
    "units": "string",
    "arm": "int64",
    "reached": "bool",
    "seconds": "float64",
    "tip_path": "float64",
    "path_ratio": "float64",
    "clearance": "float64",
    "captures": "int64",
    "state": "string",
    "tip_error": "float64",
    "error": "string",
}
"""Type of every column by its name, in their order."""


def write_csv(rows: Sequence[Row], stream: TextIO) -> None:
    """Write a table as CSV: a line of names, floats with every digit, nothing where there is none.

    Args:
        rows: the rows.
        stream: where the lines go.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])


def save_table(rows: Sequence[Row], path: Path) -> None:
    """Write a table to a file, which is replaced whole or not at all.

    Args:
        rows: the rows.
        path: a file that ends in .csv or .parquet.

    Raises:
        ValueError: the suffix is neither.
        ImportError: the file is to be Parquet and pyarrow is not installed.
        OSError: the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"a table must end in one of {', '.join(SUFFIXES)}, got {path}")
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if suffix == CSV:
            with open(partial, "w", encoding="utf-8", newline="") as stream:
                write_csv(rows, stream)
        else:
            _write_parquet(rows, partial)
        partial.replace(path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    # repr() has every digit of a float, so that equal tables are equal bytes.
    return repr(float(value)) if isinstance(value, float) else str(value)


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema(
        [(name, pyarrow.type_for_alias(kind)) for name, kind in COLUMNS.items()]
    )
    values = [row.values() for row in rows]
    columns: list[Any] = [
        pyarrow.array([row[place] for row in values], field.type)
        for place, field in enumerate(schema)
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, schema=schema), path)
