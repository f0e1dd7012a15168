"""The calls about one answer: from the cache if they led to a score before, else of the endpoint."""

from collections.abc import Sequence
from dataclasses import replace

from urs_inspect.judging import UNKNOWN, CircuitBreaker, Message, Reply
from urs_inspect.lmeval_tasks.clients.endpoint import Endpoint
from urs_inspect.lmeval_tasks.clients.reply_cache import ReplyCache, key_of


class Conversation:
    """Calls about one answer, of which the cache is told only when it is known what came of them.

    Args:
        endpoint: Where the judge is asked.
        cache: Replies of earlier runs.
        breaker: Stops calls of a judge that keeps failing.

    Attributes:
        asked: Whether the endpoint was asked.
        not_asked: Why it was not asked, where it should have been; empty if it was.
    """

    def __init__(self, endpoint: Endpoint, cache: ReplyCache, breaker: CircuitBreaker) -> None:
        self._endpoint, self._cache, self._breaker = endpoint, cache, breaker
        self._new: dict[str, Reply] = {}
        self._known: list[str] = []
        self.asked = False
        self.not_asked = ""

    async def call(self, messages: Sequence[Message]) -> Reply:
        """Send messages, unless the reply is known; as for `judging.ask`."""
        name = key_of(self._endpoint.parameters, messages)
        if (known := self._cache.get(name)) is not None:
            self._known.append(name)
            return self._with_temperature(known)
        self.asked = self.asked or not self._breaker.stopped
        reply = await self._breaker.wait_for(lambda: self._endpoint.send(messages))
        if reply is None:
            self.not_asked = self._breaker.stopped
            return Reply("", "unknown", self.not_asked)
        self._new[name] = reply
        return self._with_temperature(reply)

    def end(self, scored: bool) -> None:
        """Keep the replies that led to a score, whole or cut off, so that they lead to it again; forget all others.

        A reply that could not be read is asked for anew by the next run, even if a cache has it: what reads replies may
        have been another version when it was kept.
        """
        if scored:
            for name, reply in self._new.items():
                self._cache.put(name, reply)
        else:
            for name in self._known:
                self._cache.drop(name)

    def _with_temperature(self, reply: Reply) -> Reply:
        """A reply with the temperature of its request: the clients send what is asked for, or nothing for None."""
        return replace(reply, temperature_sent=self._endpoint.parameters.get("temperature", UNKNOWN))
