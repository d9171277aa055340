//! Skills over MCP and HTTP.
