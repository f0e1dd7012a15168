"""Judges through the clients of their providers."""

from urs_inspect.lmeval_tasks.judges.client import open_call
from urs_inspect.lmeval_tasks.judges.reply_cache import ReplyCache

__all__ = ["ReplyCache", "open_call"]
