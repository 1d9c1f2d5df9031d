// Package access reports whether other users can change or open a file. It judges by the file's
// mode bits, and on Windows by its access list.
//
// It does not report root. On Windows it does not report the system and its administrators. These
// accounts can open every file in any case. A denying entry in an access list does not make a file
// safe.
package access
