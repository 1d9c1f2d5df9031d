package cmdline

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/config"
)

// Mark colors the first group of a pattern in a line. The pattern is a text and not compiled,
// since every start makes tables of patterns but uses few.
type Mark struct{ Pattern, Color string }

// AnswerMarks returns marks for the policy's answers. The pattern before matches the text in front
// of an answer.
func AnswerMarks(before string) []Mark {
	return []Mark{
		{before + `(deny|denied)\b`, Red},
		{before + `(allow|allowed)\b`, Green},
		{before + `(prompt|ask|asked)\b`, Yellow},
	}
}

// ProseWriter returns a writer to w for whole lines of safe text, one or more at each Write. On
// a terminal it writes ~ for the home folder and breaks long lines at blanks. A file or a pipe
// gets the lines whole, with paths that other programs can open. With color, the marks apply;
// where several match, the first one does.
func ProseWriter(w io.Writer, marks ...Mark) io.Writer {
	p := prose{w: w, width: ScreenWidth(w)}
	if WantsColor(w, os.Getenv) {
		for _, m := range marks {
			p.brushes = append(p.brushes, brush{regexp.MustCompile(m.Pattern), m.Color})
		}
	}
	if folders, err := config.ReadFolders(); err == nil && p.width > 0 {
		p.home = folders.Home
	}
	return p
}

// WriteProse does the same as ProseWriter for a report that is not written line by line.
func WriteProse(w io.Writer, marks []Mark, write func(io.Writer) error) error {
	var report bytes.Buffer
	err := write(&report)
	if _, wrote := ProseWriter(w, marks...).Write(report.Bytes()); err == nil {
		err = wrote
	}
	return err
}

type prose struct {
	w       io.Writer
	width   int // columns of a line; 0: no terminal
	home    string
	brushes []brush
}

// brush is a compiled mark.
type brush struct {
	pattern *regexp.Regexp
	color   string
}

func (p prose) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if p.width > 0 {
			line = strings.ReplaceAll(line, "\t", "    ") // a file's text may hold tabs, which a terminal would make wider
		}
		parts := strings.Split(FoldLines(ShortenHome(line, p.home), p.width), "\n")
		lines[i] = strings.Join(paintMarks(parts, p.brushes), "\n")
	}
	if _, err := io.WriteString(p.w, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// paintMarks colors a line by its marks, from the left. lines are the parts of the line, which is
// already broken at the width of the terminal. The marks match in the first part; a color that
// reaches its end continues in all other parts.
func paintMarks(lines []string, brushes []brush) []string {
	var out strings.Builder
	line, color := lines[0], ""
	for at := 0; at < len(line); {
		from, to := len(line), len(line)
		color = ""
		for _, b := range brushes {
			if g := b.pattern.FindStringSubmatchIndex(line); g != nil && g[2] >= at && g[2] < from {
				from, to, color = g[2], g[3], b.color
			}
		}
		out.WriteString(line[at:from])
		out.WriteString(Paint(true, color, line[from:to]))
		at = to
	}
	lines[0] = out.String()
	for i := range lines[1:] {
		lines[i+1] = Paint(true, color, lines[i+1])
	}
	return lines
}

// ShortenHome writes paths below the home folder with ~. Text in quotes is not ours, such as
// the value of an argument, and is not changed.
func ShortenHome(line, home string) string {
	if len(home) < 2 || !strings.Contains(line, home) {
		return line
	}
	parts := strings.Split(line, `"`)
	for i := 0; i < len(parts); i++ {
		if i%2 == 1 {
			continue
		}
		words := strings.Split(parts[i], " ")
		for j, word := range words {
			path := strings.TrimLeft(word, "(")
			words[j] = word[:len(word)-len(path)] + view.TildePath(path, home)
		}
		parts[i] = strings.Join(words, " ")
	}
	return strings.Join(parts, `"`)
}
