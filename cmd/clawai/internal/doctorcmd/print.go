package doctorcmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

var healthColors = map[health]string{healthy: cmdline.Green, doubtful: cmdline.Yellow, broken: cmdline.Red}

// printer writes findings for a person.
type printer struct {
	out   strings.Builder
	color bool
	width int // columns of a line; 0 means that lines are not broken
	names int // columns of the longest name of a check
}

// printFindings writes the findings that are not healthy with their fixes, the worst first. One
// more line names the healthy checks. If the parameter everything is true, it writes all findings
// instead, in the order of the checks.
func (d diagnosis) printFindings(w io.Writer, everything bool) error {
	p := printer{color: cmdline.WantsColor(w, os.Getenv), width: cmdline.ScreenWidth(w)}
	shown := d.Findings
	if !everything {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f finding) bool { return f.Health == healthy })
		slices.SortStableFunc(shown, func(a, b finding) int { return slices.Index(worst, a.Health) - slices.Index(worst, b.Health) })
	}
	for _, f := range shown {
		p.names = max(p.names, len(f.Check))
	}
	for _, f := range shown {
		p.printFinding(f)
	}
	if !everything {
		p.printHealthy(d.Findings)
	}
	verdict := d.renderVerdict(p.color)
	if !everything {
		verdict += " All that was looked at: clawai doctor --all"
	}
	fmt.Fprintf(&p.out, "\n%s\n", verdict)
	_, err := io.WriteString(w, p.out.String())
	return err
}

var worst = []health{broken, doubtful, healthy}

const healthCells = len("warning")

func (p *printer) printFinding(f finding) {
	p.printRow(f.Health, f.Check, term.VisibleText(f.Text))
	for _, line := range leaks.RenderLines(f.Leaks) {
		p.printRow("", "", "  "+term.VisibleText(line))
	}
	if f.Fix != "" {
		p.printRow("", "", "fix: "+term.VisibleText(f.Fix))
	}
}

// printRow prints a row of three columns: health, check and text. A long text continues in the
// third column of the next line.
func (p *printer) printRow(h health, check, text string) {
	indent := healthCells + 2 + p.names + 2
	room := 0
	if p.width > 0 {
		room = max(p.width-indent-1, 30)
	}
	first := cmdline.Paint(p.color, healthColors[h], cmdline.Pad(string(h), healthCells)) + "  " + cmdline.Pad(check, p.names) + "  "
	for _, line := range view.WrapWords(text, room) {
		fmt.Fprintln(&p.out, first+line)
		first = strings.Repeat(" ", indent)
	}
}

// printHealthy prints one line with the names of the checks that have only healthy findings.
func (p *printer) printHealthy(all []finding) {
	var names []string
	for _, f := range all {
		if !slices.Contains(names, f.Check) && !slices.ContainsFunc(all, func(o finding) bool { return o.Check == f.Check && o.Health != healthy }) {
			names = append(names, f.Check)
		}
	}
	if len(names) == 0 {
		return
	}
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.printRow(healthy, "", strings.Join(names, ", "))
}

// renderVerdict returns the last line: how many findings are broken and how many are warnings.
func (d diagnosis) renderVerdict(color bool) string {
	text := cmdline.Paint(color, cmdline.Green, "Nothing is broken.")
	if n := d.countHealth(broken); n > 0 {
		text = cmdline.Paint(color, cmdline.Red, fmt.Sprintf("%d broken.", n))
	}
	if n := d.countHealth(doubtful); n > 0 {
		text += " " + cmdline.Paint(color, cmdline.Yellow, cmdline.CountText(n, "1 warning.", "%d warnings."))
	}
	return text
}

func (d diagnosis) countHealth(h health) int {
	return len(slices.DeleteFunc(slices.Clone(d.Findings), func(f finding) bool { return f.Health != h }))
}
