// Package cage plans a cage for a server's process from the tables of policies (docs/sandbox.md).
// The plan has the form that internal/cage/confine builds. Its paths have no links. It lists the
// open places, the shut places inside open ones, and the files that the server's own program needs.
package cage
