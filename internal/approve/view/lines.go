package view

import (
	"fmt"
	"strings"
)

// Gutter begins every line of a value or a change that Lines, Entire and Changes
// give. No value can show its character, so no line of one passes for ours.
const Gutter = "  ┆ "

// Label pads the word that begins a line.
func Label(word, text string) string { return fmt.Sprintf("%-11s%s", word, text) }

// Lines is the question as plain text, in rows of at most width cells; 0 does
// not wrap. Labels and order are fixed: dangers, server, then for each request
// method, names, arguments and changes; the rule stands before the first
// arguments. Long values are folded; Entire has them whole.
func (q Question) Lines(width int) []string {
	var lines []string
	for _, d := range q.Dangers {
		lines = append(lines, Label("careful", d))
	}
	for i := range q.Requests {
		lines = append(lines, q.requestLines(i)...)
	}
	return Wrap(lines, width)
}

func (q *Question) requestLines(i int) []string {
	r := &q.Requests[i]
	var lines []string
	if n := len(q.Requests); n > 1 {
		lines = append(lines, fmt.Sprintf("request %d of %d", i+1, n))
	}
	if i == 0 {
		lines = append(lines, Label("server", q.Server))
	}
	if r.Server != q.Server {
		lines = append(lines, Label("by server", r.Server))
	}
	lines = append(lines, Label("method", r.Method))
	for j := range r.Named {
		lines = append(lines, Label(r.Word, r.Named[j].shown()))
	}
	if i == 0 && q.Rule != "" {
		lines = append(lines, Label("rule", q.Rule))
	}
	own := len(r.Args) - r.Extra
	if own == 0 {
		lines = append(lines, Label("arguments", "none"))
	} else {
		lines = append(lines, Label("arguments", fmt.Sprint(own)))
	}
	for j := range r.Args {
		if j == own {
			lines = append(lines, Label("params", fmt.Sprintf("%d more", r.Extra)))
		}
		lines = append(lines, "  "+r.Args[j].Line())
	}
	return append(lines, r.Changes()...)
}

// Line is path and value on one line, with what is odd about it.
func (a *Arg) Line() string { return a.Path + " = " + a.shown() }

func (a *Arg) shown() string {
	s := a.Value
	if a.Clean != "" {
		s += " → " + a.Clean
	}
	if len(a.Marks) > 0 {
		s += " ← " + strings.Join(a.Marks, ", ")
	}
	return s
}

// Changes is Diff as plain text, nil without one.
func (r *Request) Changes() []string {
	if len(r.Diff) == 0 {
		return nil
	}
	var lines []string
	for i, d := range r.Diff {
		switch {
		case i == 0:
			lines = append(lines, Label("changes", d.Text))
			continue
		case d.Op == '#':
			lines = append(lines, "  "+d.Text)
			continue
		}
		lines = append(lines, Gutter+string(d.Op)+" "+d.Text)
	}
	return lines
}

// Entire is every value that Lines folds, line by line, wrapped like Lines; nil
// when it folds none. Of more than three equal lines in a row the first is shown,
// and how many follow.
func (q Question) Entire(width int) []string {
	var lines []string
	for i := range q.Requests {
		r := &q.Requests[i]
		for _, list := range [2][]Arg{r.Named, r.Args} {
			for j := range list {
				a := &list[j]
				if !a.Folded {
					continue
				}
				head := a.Path + ", entire"
				if len(q.Requests) > 1 {
					head = fmt.Sprintf("request %d: %s", i+1, head)
				}
				lines = append(lines, head)
				lines = append(lines, guttered(a.Whole)...)
			}
		}
	}
	return Wrap(lines, width)
}

func guttered(text []string) []string {
	var lines []string
	for i := 0; i < len(text); {
		same := i + 1
		for same < len(text) && text[same] == text[i] {
			same++
		}
		if same-i > 3 {
			lines = append(lines, Gutter+text[i], fmt.Sprintf("  … the same line %d more times …", same-i-1))
			i = same
			continue
		}
		lines = append(lines, Gutter+text[i])
		i++
	}
	return lines
}

// Short is the question on one line of at most n characters: whether it is
// dangerous, what is asked, and as much of the arguments as there is room for.
func (q Question) Short(n int) string {
	var b strings.Builder
	if len(q.Dangers) > 0 {
		b.WriteString("careful: ")
	}
	b.WriteString(q.Title)
	for i := range q.Requests {
		for j := range q.Requests[i].Args {
			if b.Len() > 4*n {
				break
			}
			b.WriteString("  " + q.Requests[i].Args[j].Line())
		}
	}
	s := []rune(b.String())
	if len(s) <= n {
		return string(s)
	}
	return string(clipped(s, n-1)) + "…"
}

// Brief says that Short(n) shows all that Lines shows of a call, but for its
// method and the rule that asked.
func (q Question) Brief(n int) bool {
	if len(q.Requests) != 1 {
		return false
	}
	r := &q.Requests[0]
	if len(r.Diff) > 0 || len(r.Named) != 1 || r.Server != q.Server {
		return false
	}
	for _, list := range [2][]Arg{r.Named, r.Args} {
		for i := range list {
			if list[i].Folded {
				return false
			}
		}
	}
	return r.Named[0].shown() == r.Names[0] && strings.HasPrefix(q.Title, r.Names[0]) && !strings.HasSuffix(q.Short(n), "…")
}

// clipped is at most n characters of harmless text, which does not end within
// an escape.
func clipped(s []rune, n int) []rune {
	for i := 0; i < n; {
		end := i + 1
		if s[i] == '\\' {
			end++
			if s[i+1] == 'u' || s[i+1] == 'x' {
				for s[end-1] != '}' {
					end++
				}
			}
		}
		if end > n {
			return s[:i]
		}
		i = end
	}
	return s[:max(n, 0)]
}
