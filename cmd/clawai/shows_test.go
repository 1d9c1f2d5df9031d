package main

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// What is another at each run, and what stands for it.
var passing = []struct {
	what *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?`), "TIME"},
	{regexp.MustCompile(`(done in|failed after) (<1 ms|\d+ ms|\d+\.\d s)`), "$1 SPAN"},
	{regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{10}-\d+\b`), "RECORD"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "REVISION"},
}

// shows demands that a page of the documentation has a text, which is that of a
// file or of what the last command printed, as a block of its own: shows PAGE
// [FILE]. A line "..." in the page stands for any lines.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: shows PAGE [FILE]")
	}
	file := append(args, "stdout")[1]
	page, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	text := lasting(strings.NewReplacer(ts.Getenv("HOME"), "/home/user", ts.Getenv("WORK"), "/work").Replace(ts.ReadFile(file)))
	for _, block := range regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		pattern := regexp.QuoteMeta(lasting(block[1]))
		pattern = strings.ReplaceAll("\n"+pattern, "\n"+regexp.QuoteMeta("...")+"\n", "\n(?:.*\n)*")
		if regexp.MustCompile("^" + pattern + "$").MatchString("\n" + text) {
			return
		}
	}
	ts.Fatalf("%s does not show\n%s", args[0], text)
}

// lasting is a text without what is another at each run.
func lasting(text string) string {
	for _, p := range passing {
		text = p.what.ReplaceAllString(text, p.word)
	}
	return text
}
