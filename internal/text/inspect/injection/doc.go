// Package injection scores how closely the wording of a stretch of text resembles published
// prompt injections. It uses a table of weights of hashed word n-grams, over windows of 24 and 64
// words. It recognizes templates. It does not find a goal in plain words, another language or a
// paraphrase (docs/detection.md has the measurements).
//
// The table is learned from generated texts alone, by train_test.go, which reproduces it byte for
// byte. The package is pure: one pass, no allocation.
package injection
