//go:build !linux

package memory

// SettleSoon does nothing here: there is no telling which pages are those of the file.
func SettleSoon() {}
