// Package wrap finds the servers in the files of MCP clients, puts clawai in front of them, and
// removes clawai again.
//
// Package wrap/client computes the edits. This package reads and writes the files. It locks a file
// against other clawai processes, replaces a file completely or not at all, and keeps a journal. It
// never replaces a file that has changed since the edit was planned, never leaves an incomplete
// file, and never copies a secret from a file to another place.
package wrap
