"""Messages and tools in the form of the chat completions protocol, and back."""

from collections.abc import Mapping, Sequence
from typing import Any  # Any: JSON of the protocol

from rag_assets.llm.contract import Message, TokenLogprob, Tool, ToolCall


def message_to_wire(message: Message) -> dict[str, Any]:
    """Return a message as the protocol writes it."""
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [call_to_wire(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def message_from_wire(wire: Mapping[str, Any]) -> Message:
    """Return the message that `message_to_wire` wrote; a list of text parts is joined."""
    content = wire.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in wire.get("tool_calls") or ()
    )
    return Message(wire["role"], content, calls, wire.get("tool_call_id"))


def tool_to_wire(tool: Tool) -> dict[str, Any]:
    """Return a tool as the protocol writes it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def call_to_wire(call: ToolCall) -> dict[str, Any]:
    """Return a tool call as the protocol writes it."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def joined_calls(pieces: Sequence[Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls that a stream sent in pieces.

    Args:
        pieces: in order; each has an `index`, and parts of `id`, `function.name` and
            `function.arguments`.
    """
    parts: dict[int, tuple[list[str], list[str], list[str]]] = {}
    for piece in pieces:
        ids, names, arguments = parts.setdefault(piece.index, ([], [], []))
        # Some services repeat the id in every piece.
        if piece.id and piece.id not in ids:
            ids.append(piece.id)
        if piece.function is not None:
            names.append(piece.function.name or "")
            arguments.append(piece.function.arguments or "")
    return tuple(
        ToolCall("".join(ids), "".join(names), "".join(arguments))
        for _, (ids, names, arguments) in sorted(parts.items())
    )


def logprobs_from_wire(found: Any) -> tuple[tuple[TokenLogprob, ...], ...]:
    """Return what a service says of the tokens of its answer; nothing where it says nothing.

    Args:
        found: the `logprobs` of a choice, as an object of the client or as a mapping.
    """
    places = _of(found, "content") or ()
    return tuple(
        tuple(
            TokenLogprob(str(_of(token, "token")), float(_of(token, "logprob")))
            for token in _of(place, "top_logprobs") or ()
        )
        for place in places
    )


def logprobs_to_wire(places: Sequence[Sequence[TokenLogprob]]) -> list[dict[str, Any]]:
    """Return what `logprobs_from_wire` reads, as the protocol writes it."""
    return [
        {
            "token": tokens[0].token,
            "logprob": tokens[0].logprob,
            "top_logprobs": [{"token": t.token, "logprob": t.logprob} for t in tokens],
        }
        for tokens in places
        if tokens
    ]


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)


def is_strict_schema(schema: Any) -> bool:
    """Say whether hosted services can enforce a schema: objects closed, every key required."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            keys = set(schema.get("properties", {}))
            if schema.get("additionalProperties") is not False:
                return False
            if set(schema.get("required", ())) != keys:
                return False
        return all(is_strict_schema(value) for value in schema.values())
    if isinstance(schema, list):
        return all(is_strict_schema(value) for value in schema)
    return True
