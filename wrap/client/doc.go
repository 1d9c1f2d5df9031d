// Package client reads and edits the configuration files of MCP clients: it finds the files,
// reads the servers in them, puts clawai in front of a server and removes it again.
//
// An edit replaces and inserts single tokens; it never formats the complete file again. So comments,
// order, spacing, escapes and line ends stay, and Unwrap restores the bytes before Wrap without any
// stored state. The package refuses an ambiguous file and does not change it.
//
// The package gets and returns the contents of files, and does no I/O. It must never guess: for a file
// that it cannot read exactly it returns an error, and does not treat the file as empty.
package client
