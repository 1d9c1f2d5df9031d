// Package accesstest gives other users access to a test's files, on each
// system.
package accesstest
