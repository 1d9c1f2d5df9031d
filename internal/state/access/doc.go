// Package access reports who else can change or open a file: by its mode bits, and on Windows by
// its access list.
//
// The system and its administrators can open everything; they are not reported, just as root is
// not on other systems. A denying entry in an access list does not make a file safe.
package access
