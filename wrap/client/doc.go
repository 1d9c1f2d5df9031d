// Package client reads and edits the configuration files of MCP clients: it finds the files,
// reads the servers in them, puts clawai in front of a server and removes it again.
//
// An edit moves the bytes of one token and inserts text; it never prints the whole file again.
// So comments, order, spacing, escapes and line ends stay, and Unwrap returns the bytes that
// Wrap was given, without any stored state. An ambiguous file is refused and not changed.
//
// The package reads and writes no file. It must never guess: a file that it cannot read exactly
// is an error, not an empty file.
package client
