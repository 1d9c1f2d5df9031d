//go:build !linux

package cage

// readMounts returns nil: only Linux has bind mounts, which show one folder at several paths.
func readMounts() ([]mount, error) { return nil, nil }
