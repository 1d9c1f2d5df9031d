// Package wrap finds the servers in the files of MCP clients, puts clawai in front of them and
// removes it again.
//
// Package wrap/client computes the edits. This package reads the files, prevents other writers
// at the same time, replaces a file completely or not at all, and keeps a journal. It must
// never write a file that is not, byte for byte, the one it planned for, never leave half a
// file, and never put an environment block or another secret of a file anywhere else.
package wrap
