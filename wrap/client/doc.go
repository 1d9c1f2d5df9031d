// Package client knows the configuration files of MCP clients: where they are,
// how a server is written in them, and how to put clawai in front of a server
// and take it away again.
//
// An edit moves the bytes of one token and inserts text; it never prints a file
// anew. So comments, order, spacing, escapes and line ends stay, and Unwrap
// gives back the bytes that Wrap was given, without any stored state. What is
// ambiguous is refused and the bytes are left alone.
//
// The package reads and writes no file. It must never guess: a file it cannot
// read exactly is an error, not an empty file.
package client
