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

// Mark colors the first group of a pattern in a line. Pattern is not compiled yet, because every
// start of clawai makes tables of marks but uses only a few marks.
type Mark struct{ Pattern, Color string }

// AnswerMarks returns the marks that color the policy's answers, such as allow. The parameter
// before is a pattern for the text in front of an answer.
func AnswerMarks(before string) []Mark {
	return []Mark{
		{before + `(deny|denied)\b`, Red},
		{before + `(allow|allowed)\b`, Green},
		{before + `(prompt|ask|asked)\b`, Yellow},
	}
}

// ProseWriter returns a writer to w for safe text. Each Write must have whole lines. On a terminal
// the writer replaces the home folder by ~ and breaks long lines at spaces. For a file or a pipe it
// changes no line, so that other programs can open the paths. With color it applies the marks. If
// several marks match at one place, it applies the first.
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

// WriteProse writes a report in the same way as ProseWriter. Use it for reports that are not
// written in whole lines.
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
	width   int // columns of a line; 0 if w is not a terminal
	home    string
	brushes []brush
}

// brush is a mark with its compiled pattern.
type brush struct {
	pattern *regexp.Regexp
	color   string
}

func (p prose) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if p.width > 0 {
			// Text from a file may have tabs, and a terminal shows a tab wider than one column.
			line = strings.ReplaceAll(line, "\t", "    ")
		}
		parts := strings.Split(view.FoldLines(ShortenHome(line, p.home), p.width), "\n")
		lines[i] = strings.Join(paintMarks(parts, p.brushes), "\n")
	}
	if _, err := io.WriteString(p.w, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// paintMarks colors the parts of one line that match the patterns of brushes. The parameter lines
// has the parts of this line after it was broken at the width of the terminal. Only lines[0] is
// searched. If the color of the last match reaches the end of lines[0], the other lines get this
// color too.
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

// ShortenHome replaces the home folder by ~ at the start of paths. It does not change text in
// quotes, such as the value of an argument, because that text is not ours.
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
