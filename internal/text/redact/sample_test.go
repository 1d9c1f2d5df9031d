package redact

import "strings"

// testKey is the key of every redactor in these tests.
var testKey = []byte(strings.Repeat("k", 32))

// Secrets are assembled here, so that this file holds none.
var (
	hex40  = strings.Repeat("a1b2c3d4", 5)
	github = "ghp" + "_" + hex40
	plain  = "hunter" + "2"
)
