//go:build !linux

package memory

// SettleSoon does nothing here: it is not possible to find the pages of the file.
func SettleSoon() {}
