package main

// checkPowers returns nil: Windows has no such mark.
func checkPowers() error { return nil }
