//go:build !linux

package cage

// readMounts returns nothing: only Linux shows one folder at several places.
func readMounts() ([]mount, error) { return nil, nil }
