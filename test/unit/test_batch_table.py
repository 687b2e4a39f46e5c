"""The table of a sweep as CSV and Parquet."""

from __future__ import annotations

import io

import pytest

from octo_reach.batch import COLUMNS, ArmMeasures, Row, save_table, write_csv

MEASURES = ArmMeasures(3, True, 0.1 + 0.2, 1e-17, None, 0.003, 2, "Reached", 0.5)
ROWS = [
    Row('a "scene", so', 4, "neighbour", "metre", MEASURES),
    Row("reef", None, "neighbour", "pixel", None, "ValueError: no"),
]
TEXT = """\
scene,seed,planner,units,arm,reached,seconds,tip_path,path_ratio,clearance,captures,state,\
tip_error,error
"a ""scene"", so",4,neighbour,metre,3,true,0.30000000000000004,1e-17,,0.003,2,Reached,0.5,
reef,,neighbour,pixel,,,,,,,,,,ValueError: no
"""


def test_csv_has_every_digit_and_nothing_where_there_is_nothing():
    stream = io.StringIO()
    write_csv(ROWS, stream)
    assert stream.getvalue() == TEXT


def test_a_csv_file_is_what_the_stream_is(tmp_path):
    path = tmp_path / "table.CSV"
    path.write_text("old", encoding="utf-8")
    save_table(ROWS, path)
    assert path.read_bytes() == TEXT.encode()
    assert list(tmp_path.iterdir()) == [path]


def test_every_row_has_a_value_for_every_column():
    assert all(len(row.values()) == len(COLUMNS) for row in ROWS)


def test_parquet_holds_the_same_values_with_their_types(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    save_table(ROWS, path)
    table = parquet.read_table(path)
    assert {field.name: str(field.type) for field in table.schema} == {
        name: {"float64": "double"}.get(kind, kind) for name, kind in COLUMNS.items()
    }
    assert [tuple(row.values()) for row in table.to_pylist()] == [row.values() for row in ROWS]
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_without_a_row_still_has_its_columns(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    save_table([], tmp_path / "table.parquet")
    assert parquet.read_table(tmp_path / "table.parquet").column_names == list(COLUMNS)


def test_another_suffix_is_refused_with_the_choices(tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.csv, \.parquet, got .*table\.xls"):
        save_table(ROWS, tmp_path / "table.xls")


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "table.csv").mkdir()
    with pytest.raises(OSError):
        save_table(ROWS, tmp_path / "table.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
