"""Records of public preference data -> pairs with the overall preference that is known (SaMer paper, section 3.2).

Whoever uses a source fetches it under its own licence and gives it as JSON Lines. Where a source always puts the better
response first, the sides are tossed by a hash of the prompt and the responses, so that a side tells nothing.
"""

from urs_inspect.samer.sources.mapping import SOURCES, Mapped, Skipped, Unpaired, map_records, second_response

__all__ = ["SOURCES", "Mapped", "Skipped", "Unpaired", "map_records", "second_response"]
