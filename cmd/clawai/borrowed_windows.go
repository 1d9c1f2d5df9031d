package main

// borrowed: there is no such mark on Windows.
func borrowed() error { return nil }
