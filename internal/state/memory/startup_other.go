//go:build !linux

package memory

// SettleSoon does nothing, because this system does not show the pages of the program file.
func SettleSoon() {}
