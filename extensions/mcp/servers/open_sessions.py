"""The open sessions: one for a server and an event loop, opened when it is first needed."""

from extensions.mcp.servers.resolved_server import ResolvedServer
from extensions.mcp.servers.session import McpSession
from nodes.limits.per_loop import PerLoop

_sessions: PerLoop[dict[ResolvedServer, McpSession]] = PerLoop(dict)


async def get_session(server: ResolvedServer) -> McpSession:
    """Return the running loop's session with a server; a session that was lost is opened again.

    Raises:
        McpServerFailed: the server cannot be used.
    """
    known = _sessions.get()
    session = known.get(server)
    if session is None or session.is_lost:
        session = known[server] = McpSession(server)
    try:
        await session.wait_until_open()
    except BaseException:  # a cancel too: a lost session is not offered again
        if session.is_lost and known.get(server) is session:
            del known[server]
        raise
    return session


async def close_sessions() -> None:
    """Close all sessions of the running loop."""
    known = _sessions.forget() or {}
    for session in known.values():
        await session.close()
