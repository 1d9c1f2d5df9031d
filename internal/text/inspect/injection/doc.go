// Package injection scores how much a stretch of text is worded like published prompt
// injections: a table of weights of hashed word n-grams, over windows of 24 and 64 words.
// It knows templates. A goal in plain words, another language and a paraphrase pass it
// (docs/detection.md has what was measured).
//
// The table is learned from generated texts alone, by train_test.go, which writes it byte
// for byte again. Pure, one pass, no allocation.
package injection
