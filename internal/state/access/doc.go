// Package access says who besides this user can change or open a file: by its mode bits, and on
// Windows by its access list.
//
// The system and its administrators can open everything; they are not told of, as
// root is not elsewhere. A denial in a list is not counted in anybody's favour.
package access
