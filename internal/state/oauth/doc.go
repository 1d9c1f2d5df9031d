// Package oauth signs the owner in to remote MCP servers and stores the tokens. Discovery,
// registration, PKCE, resource indicators, refresh and step-up follow the authorization sections of
// the MCP specification (2025-03-26 to 2026-07-28) and use the official SDK. A token is sent only
// to the server for which it was issued. A token is never logged, shown, or put on a command line.
package oauth
