//go:build unix && !linux

package main

// hasElevatedPowers returns false, because on other systems checkPowers needs only the ids.
func hasElevatedPowers() bool { return false }
