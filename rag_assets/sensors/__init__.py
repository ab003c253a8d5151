"""Sensors: thin, one run request a tick, with tags that a person can read."""

from rag_assets.sensors.lab import build_lab_sensors
from rag_assets.sensors.namespace import build_namespace_sensors
from rag_assets.sensors.workspace import build_workspace_sensors

__all__ = ["build_lab_sensors", "build_namespace_sensors", "build_workspace_sensors"]
