// Package access reports whether other users can change or open a file. It judges by the file's
// mode bits, and on Windows by its access list.
//
// It does not report root, or on Windows the system and its administrators, because they can open
// every file. A denying entry in an access list does not make a file safe.
package access
