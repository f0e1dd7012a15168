"""Clients of the providers of judges, and what they were told before."""

from urs_inspect.lmeval_tasks.clients.conversation import Conversation
from urs_inspect.lmeval_tasks.clients.endpoint import Endpoint, call_parameters, open_endpoint
from urs_inspect.lmeval_tasks.clients.reply_cache import ReplyCache

__all__ = ["Conversation", "Endpoint", "ReplyCache", "call_parameters", "open_endpoint"]
