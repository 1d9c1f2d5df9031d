// Package wrap finds the servers in the files of MCP clients, puts clawai in front of them and
// removes it again.
//
// Package wrap/client computes the edits. This package reads the files, keeps other clawai processes
// from writing at the same time, replaces a file completely or not at all, and keeps a journal. It
// must never replace a file that has changed since the edit was planned, never leave an incomplete
// file, and never copy an environment block or another secret of a file to another place.
package wrap
