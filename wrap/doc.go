// Package wrap finds the servers in the files of MCP clients, puts clawai in
// front of them and takes it away again.
//
// Which bytes change is wrap/client's business; this room reads the files,
// keeps others from writing at the same time, replaces a file whole or not at
// all, and keeps a journal. It must never write a file that is not, byte for
// byte, the one it planned for, never leave half a file, and never put an
// environment block or another secret of a file anywhere else.
package wrap
