// Package oauth signs the owner in to remote MCP servers and keeps the tokens:
// discovery, registration, PKCE, resource indicators, refresh and step-up are
// those of MCP's authorization clauses (2025-03-26 to 2026-07-28), by the
// protocol's own SDK. A token goes to the server it was made for and to nobody
// else; it is never logged, shown, or put on a command line.
package oauth
