//go:build !windows

package wrap

// shortPath returns the path unchanged: only Windows has another form without spaces.
func shortPath(path string) string { return path }
