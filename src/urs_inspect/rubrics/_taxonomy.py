"""Scenarios, needs and dimensions of SaMer (paper, Tables A1 and A2).

The definitions are in our own words.
"""

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from urs_inspect._util import InputError, choices

_FILE = Path(__file__).parent / "taxonomy.yaml"


class Scenario(BaseModel):
    """One kind of request, and the dimensions on which its responses are compared.

    Attributes:
        name: Readable name.
        need: The human need that it serves, one of five, or `other`.
        description: What the user wants in this scenario.
        dimensions: Dimension -> what a good response does on it in this scenario.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    need: str = Field(min_length=1)
    description: str = Field(min_length=1)
    dimensions: dict[str, str] = Field(min_length=1)


class Taxonomy(BaseModel):
    """The whole taxonomy.

    Attributes:
        name: Name of the taxonomy.
        version: Version of its texts.
        dimensions: All dimensions in the output order of the published checkpoint (42 units).
        aliases: Other names of dimensions, as data sets write them.
        scenarios: Scenarios by id.

    Raises:
        ValueError: If a scenario or an alias names an unknown dimension (pydantic's
            `ValidationError`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))

    name: str
    version: str
    dimensions: tuple[str, ...]
    aliases: dict[str, str]
    scenarios: dict[str, Scenario]

    @model_validator(mode="after")
    def _names_resolve(self) -> Self:
        for scenario_id, scenario in self.scenarios.items():
            for dimension in scenario.dimensions:
                if dimension not in self.dimensions:
                    raise ValueError(f"scenarios.{scenario_id}: unknown dimension '{dimension}'")
        for alias, dimension in self.aliases.items():
            if dimension not in self.dimensions:
                raise ValueError(f"aliases.{alias}: unknown dimension '{dimension}'")
        return self

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """All needs, in the order of the scenarios."""
        return tuple(dict.fromkeys(scenario.need for scenario in self.scenarios.values()))

    def dimension(self, name: str) -> str:
        """Resolve a dimension or its alias.

        Args:
            name: The name or alias, to the letter.

        Returns:
            The name of the dimension in `dimensions`.

        Raises:
            InputError: If there is none of that name; the message lists them.
        """
        resolved = self.aliases.get(name, name)
        if resolved not in self.dimensions:
            raise InputError(f"unknown dimension '{name}'; allowed: {choices(self.dimensions)}")
        return resolved

    def scenario_id(self, name: str) -> str:
        """The id of a scenario, checked.

        Args:
            name: The id.

        Returns:
            The same id.

        Raises:
            InputError: If there is no such scenario; the message lists them.
        """
        self.scenario(name)
        return name

    def scenario(self, name: str) -> Scenario:
        """Find a scenario by its id.

        Args:
            name: The id.

        Returns:
            The scenario.

        Raises:
            InputError: If there is no such scenario; the message lists them.
        """
        if name not in self.scenarios:
            raise InputError(f"unknown scenario '{name}'; allowed: {choices(self.scenarios)}")
        return self.scenarios[name]


@lru_cache(maxsize=1)
def load_taxonomy() -> Taxonomy:
    """Load the taxonomy that comes with the package.

    Returns:
        The taxonomy.

    Examples:
        >>> from urs_inspect.rubrics import load_taxonomy
        >>> taxonomy = load_taxonomy()
        >>> len(taxonomy.scenarios), len(taxonomy.dimensions)
        (36, 42)
    """
    return Taxonomy.model_validate(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
