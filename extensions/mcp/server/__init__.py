"""Teams as tools of an MCP server, over stdio or HTTP; its modules need the extra `mcp`."""
