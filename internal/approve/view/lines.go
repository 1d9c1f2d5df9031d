package view

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Lines is the question as plain text, at most width cells a line; 0 wraps
// nothing. The labels and their order are fixed: dangers, server, method,
// names, rule, arguments, changes.
func (q Question) Lines(_ int) []string {
	var lines []string
	for _, d := range q.Dangers {
		lines = append(lines, "careful    "+d)
	}
	for i := range q.Requests {
		r := &q.Requests[i]
		if len(q.Requests) > 1 {
			lines = append(lines, fmt.Sprintf("request %d of %d", i+1, len(q.Requests)))
		}
		lines = append(lines, "server     "+r.Server, "method     "+r.Method)
		for _, name := range r.Names {
			lines = append(lines, fmt.Sprintf("%-11s%s", r.Word, name))
		}
		if i == 0 && q.Rule != "" {
			lines = append(lines, "rule       "+q.Rule)
		}
		lines = append(lines, r.argumentLines()...)
	}
	return lines
}

func (r *Request) argumentLines() []string {
	if len(r.Args) == 0 {
		return []string{"arguments  none"}
	}
	lines := []string{fmt.Sprintf("arguments  %d", len(r.Args))}
	for _, a := range r.Args {
		lines = append(lines, "  "+a.line())
	}
	return lines
}

// line is the value on one line.
func (a *Arg) line() string {
	s := a.Path + " = " + a.Value
	if a.Clean != "" {
		s += " → " + a.Clean
	}
	return s
}

// Short is the question on one line of at most n characters.
func (q Question) Short(n int) string {
	parts := []string{q.Title}
	for i := range q.Requests {
		for _, a := range q.Requests[i].Args {
			parts = append(parts, a.line())
		}
	}
	s := strings.Join(parts, "  ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(0, n-1)]) + "…"
}
