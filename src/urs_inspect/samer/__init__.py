"""SaMer: the taxonomy of scenarios and dimensions."""

from urs_inspect.samer.taxonomy import Scenario, Taxonomy, load_taxonomy

__all__ = ["Scenario", "Taxonomy", "load_taxonomy"]
