// Package accesstest lets other users access the files of a test, on each operating system.
package accesstest
