"""Many runs of many scenes, without ROS: randomised, measured, over processes or a cluster.

runs = plan_runs({"detour": document}, ["neighbour"], vary="targets", seeds=range(1, 101))
sweep = Sweep(runs)
sweep.run(ProcessEngine(jobs=4))
save_table(sweep.rows(), Path("detour.csv"))
"""

from octo_reach.batch.engines import DaskEngine, EngineError, ProcessEngine, SequentialEngine
from octo_reach.batch.measures import ArmMeasures, measure_run
from octo_reach.batch.randomising import (
    VARIATIONS,
    RandomisingError,
    vary_obstacles,
    vary_scene,
    vary_targets,
)
from octo_reach.batch.sweep import Engine, Run, Sweep, execute_run, plan_runs
from octo_reach.batch.table import COLUMNS, Row, save_table, write_csv

__all__ = [
    "COLUMNS",
    "VARIATIONS",
    "ArmMeasures",
    "DaskEngine",
    "Engine",
    "EngineError",
    "ProcessEngine",
    "RandomisingError",
    "Row",
    "Run",
    "SequentialEngine",
    "Sweep",
    "execute_run",
    "measure_run",
    "plan_runs",
    "save_table",
    "vary_obstacles",
    "vary_scene",
    "vary_targets",
    "write_csv",
]
