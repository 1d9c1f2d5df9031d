//go:build !windows

package wrap

// shortPath gives a path back: only Windows has another spelling without spaces.
func shortPath(path string) string { return path }
