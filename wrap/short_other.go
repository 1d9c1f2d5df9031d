//go:build !windows

package wrap

// shortPath returns the path unchanged, because only Windows has short names of files.
func shortPath(path string) string { return path }
