// Package client reads and edits the configuration files of MCP clients. It finds the files, reads
// the servers in them, puts clawai in front of a server, and removes clawai again.
//
// An edit replaces or inserts single tokens; it never formats the complete file again. So comments,
// order, spacing, escapes and line ends stay, and Unwrap restores the bytes before Wrap without
// stored data. The package refuses to edit an ambiguous file.
//
// The package gets and returns the contents of files, and does no I/O. It never guesses: for a file
// that it cannot read exactly it returns an error, and does not treat the file as empty.
package client
