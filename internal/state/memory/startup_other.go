//go:build !linux

package memory

// SettleSoon does nothing on this system, which offers no way to find the pages of the program file.
func SettleSoon() {}
