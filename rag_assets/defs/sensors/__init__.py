"""Sensors: thin, one run request a tick, with tags that a person can read."""

from rag_assets.defs.sensors.lab import build_lab_sensors
from rag_assets.defs.sensors.namespace import build_namespace_sensors
from rag_assets.defs.sensors.workspace import build_workspace_sensors
