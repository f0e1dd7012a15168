"""Engines: what runs a SaMer model, behind one protocol."""

from urs_inspect.samer._engines.protocol import (
    Engine,
    EngineFailure,
    EngineSpec,
    FailureMode,
    QueryResponse,
    Scored,
)
from urs_inspect.samer._engines.registry import engine_names, load_engine, register_engine

__all__ = [
    "Engine",
    "EngineFailure",
    "EngineSpec",
    "FailureMode",
    "QueryResponse",
    "Scored",
    "engine_names",
    "load_engine",
    "register_engine",
]
