// Package cage plans a cage for a server's process from the tables of policies (docs/sandbox.md).
// The plan has the form that internal/cage/confine builds: paths without links, the places in them
// that stay shut, and the files that the server's own program needs.
package cage
