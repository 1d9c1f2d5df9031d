package view

import (
	"regexp"
	"strings"
)

// commandAt is the start of a command after a colon.
var commandAt = regexp.MustCompile(`: clawai(?:-gateway)? `)

// FoldLines breaks every line that is wider than n characters on the screen, at its spaces. If the
// line is a row of a table, the rest continues below the last cell that begins in the left half of
// the screen. Otherwise the rest is indented by two more spaces than the line. A command after a
// colon stays on one line, so that a person can paste it. JSON is broken between its members. If n
// is 0, FoldLines changes nothing.
func FoldLines(text string, n int) string {
	if n <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Width(line) > n {
			lines[i] = foldLine(line, n)
		}
	}
	return strings.Join(lines, "\n")
}

func foldLine(line string, n int) string {
	start := len(line) - len(strings.TrimLeft(line, " "))
	margin := start + 2
	for at := range line {
		before := line[:at]
		if Width(before) > n/2 {
			break
		}
		if at > start && (strings.HasSuffix(before, "  ") || strings.HasSuffix(before, " | ")) {
			start, margin = at, Width(before)
		}
	}
	text, command := line[start:], ""
	if at := commandAt.FindStringIndex(text); at != nil {
		text, command = text[:at[0]], text[at[0]+len(": "):]
	}
	var words []string
	for word := range strings.SplitSeq(text, " ") {
		if Width(word) > n-margin { // JSON has no spaces, so spaces are added where the line may break
			word = strings.ReplaceAll(word, `,"`, `, "`)
		}
		words = append(words, strings.Split(word, " ")...)
	}
	if command != "" {
		words[len(words)-1] += ":"
		words = append(words, command)
	}
	return line[:start] + strings.Join(wrapWords(words, n-margin), "\n"+strings.Repeat(" ", margin))
}

// WrapWords breaks a text at its spaces into lines of at most n columns. A longer word gets its own
// line. If n is 0, the text stays one line.
func WrapWords(s string, n int) []string {
	if n <= 0 {
		return []string{s}
	}
	return wrapWords(strings.Split(s, " "), n)
}

func wrapWords(words []string, n int) (lines []string) {
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) > n:
			lines = append(lines, strings.TrimRight(line, " "))
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
