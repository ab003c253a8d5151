"""What every command imports; the process that attacked commands are forked from imports it once.

Nothing here may start a thread or touch a Lance table: neither lives through a fork.
"""

import dagster
import duckdb
import numpy
import pyarrow.dataset
import pyarrow.parquet

import rag_assets.cli.main
import rag_assets.defs.assets
import rag_assets.running.materialize
import rag_assets_tests.e2e.building

__all__ = ["dagster", "duckdb", "numpy", "pyarrow", "rag_assets", "rag_assets_tests"]
