"""Tools of MCP servers, and the teams as tools of one."""
