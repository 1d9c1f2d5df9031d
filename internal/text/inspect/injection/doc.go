// Package injection scores how similar the wording of a stretch of text is to published prompt
// injections. It adds the weights of hashed word n-grams, over windows of 24 and 64 words. It
// recognizes templates. It does not find a goal in plain words, another language or a paraphrase
// (docs/detection.md has the measurements).
//
// train_test.go learns the table of weights from generated texts alone, and gives the same bytes
// each time. The package is pure: it reads the text once and allocates nothing.
package injection
