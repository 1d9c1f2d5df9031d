//go:build !windows

package wrap

// short gives a path back: only Windows has another spelling without spaces.
func short(path string) string { return path }
