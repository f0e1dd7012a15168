"""Model providers of our own: simulations for demonstrations and tests."""

from urs_inspect.providers._simulation import SIMULATION, urs_simulation

__all__ = ["SIMULATION", "urs_simulation"]
