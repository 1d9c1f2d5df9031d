// Package accesstest opens files of a test to other users, as the system does that.
package accesstest
