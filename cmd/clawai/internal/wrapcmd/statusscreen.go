package wrapcmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
)

// stateColors are the colors of the states. A server that clawai cannot cover has no warning color,
// because the person cannot change this.
var stateColors = map[wrap.State]string{
	wrap.Wrapped: cmdline.Green, wrap.Observed: cmdline.Yellow, wrap.Bare: cmdline.Yellow, wrap.Drifted: cmdline.Red, wrap.Uncovered: cmdline.Dim,
}

// statusPrinter prints the status of the clients as text.
type statusPrinter struct {
	*Found
	out    strings.Builder
	color  bool
	width  int // columns of a line; 0 means that lines are not broken
	names  int // columns of the longest name, with an upper limit
	states int // columns of the longest state
}

func (f *Found) printStatus(w io.Writer, doc Status) error {
	if doc.Policy != "" {
		fmt.Fprintf(w, "No server starts and every tool of an agent with a hook is refused, because the policy does not load:\n  %s\n\n", term.VisibleText(doc.Policy))
	}
	if doc.Centre != nil {
		for i, line := range append(doc.Centre.Describe(), doc.Centre.Doubts...) {
			fmt.Fprintf(w, "%-6s%s\n", []string{"Team", ""}[min(i, 1)], term.VisibleText(line))
		}
		fmt.Fprintln(w)
	}
	if len(doc.Files) == 0 {
		if _, err := fmt.Fprintln(w, "No MCP client here has a server in a file that clawai knows."); err != nil || len(doc.Hooks) == 0 {
			return err
		}
		fmt.Fprintln(w)
	}
	p := statusPrinter{Found: f, color: cmdline.WantsColor(w, os.Getenv), width: cmdline.ScreenWidth(w)}
	slices.SortStableFunc(doc.Files, func(a, b FileStatus) int { return strings.Compare(a.Client, b.Client) })
	for _, file := range doc.Files {
		for _, s := range file.Servers {
			p.names = max(p.names, min(view.Width(term.VisibleLine(s.Name)), 30))
			p.states = max(p.states, len(s.State))
		}
		if file.Error != "" {
			p.names, p.states = max(p.names, len("?")), max(p.states, len(unreadable))
		}
	}
	p.printClients(&doc)
	for _, text := range doc.Hub {
		fmt.Fprintf(&p.out, "\nHub: %s\n", term.VisibleText(text))
	}
	p.printModels(doc.Models)
	p.printSummary(&doc)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// printClients prints the clients in sequence. For each client it prints the files and then the
// hooks.
func (p *statusPrinter) printClients(doc *Status) {
	var words []string
	for _, file := range doc.Files {
		words = append(words, file.Client)
	}
	for _, h := range doc.Hooks {
		words = append(words, h.Client)
	}
	slices.Sort(words)
	for i, word := range slices.Compact(words) {
		if i > 0 {
			p.out.WriteByte('\n')
		}
		path := ""
		for j := range doc.Files {
			file := &doc.Files[j]
			if file.Client != word {
				continue
			}
			if path == "" {
				p.printHeading(file.Name, word)
			}
			// One file may have servers in several places, but its path is printed only once.
			if path != file.Path {
				p.printPath(file)
			}
			path = file.Path
			p.printFile(file)
		}
		for _, h := range doc.Hooks {
			if h.Client != word {
				continue
			}
			if path == "" {
				p.printHeading(h.Name, word)
			}
			p.printHooks(h)
		}
	}
}

func (p *statusPrinter) paint(color, s string) string { return cmdline.Paint(p.color, color, s) }

// printHeading writes the heading of a client: its name, and the value for --client.
func (p *statusPrinter) printHeading(name, word string) {
	name, _, _ = strings.Cut(name, " (") // the text in brackets is about only one of the client's files
	fmt.Fprintf(&p.out, "%s  %s\n", p.paint(cmdline.Bold, name), p.paint(cmdline.Dim, word))
}

func (p *statusPrinter) printPath(file *FileStatus) {
	note := ""
	if file.Experimental {
		note = "  experimental"
	}
	fmt.Fprintf(&p.out, "  %s%s\n", p.ShortPath(file.Path), p.paint(cmdline.Dim, note))
}

func (p *statusPrinter) printFile(file *FileStatus) {
	if file.Error != "" {
		p.printRow("?", unreadable, cmdline.Red, term.VisibleText(file.Error))
	}
	for _, note := range file.Notes {
		p.printParagraph("    ", "Note: "+term.VisibleText(note)+".")
	}
	for _, s := range file.Servers {
		why := term.VisibleText(s.Why)
		if s.Remote && why == "" {
			why = "a remote server"
		}
		if s.Project != "" {
			why = strings.TrimPrefix(why+"; for "+p.ShortPath(s.Project), "; ")
		}
		if s.Sandbox != "" {
			why = strings.TrimPrefix(why+"; sandbox: "+s.Sandbox, "; ")
		}
		if s.Program != "" && (s.Sandbox != "" || !strings.HasPrefix(s.Program, "not installed")) {
			why = strings.TrimPrefix(why+"; "+term.VisibleText(s.Program), "; ")
		}
		if s.Within != "" {
			why = strings.TrimPrefix(why+"; its command runs it by "+s.Within+": a cage inside, of which clawai does not know what it shuts", "; ")
		}
		p.printRow(term.VisibleLine(s.Name), string(s.State), stateColors[s.State], why)
	}
}

const unreadable = "unreadable" // state of everything in a file that cannot be read

// printRow prints one server with its state and the reason. A long reason continues in the same
// column on the next line.
func (p *statusPrinter) printRow(name, state, color, why string) {
	indent := 4 + p.names + 2 + p.states + 2
	room := 0
	if p.width > 0 {
		room = max(p.width-indent-1, 20)
	}
	first := "    " + cmdline.Pad(cmdline.CutMiddle(name, p.names), p.names) + "  " + p.paint(color, cmdline.Pad(state, p.states)) + "  "
	for _, line := range view.WrapWords(why, room) {
		if line == "" {
			first = strings.TrimRight(strings.TrimSuffix(first, "  "), " ")
		}
		fmt.Fprintln(&p.out, first+line)
		first = strings.Repeat(" ", indent)
	}
}

// printSummary prints the number of servers in each state, the things that are not covered, and the
// next step.
func (p *statusPrinter) printSummary(doc *Status) {
	total := 0
	var counts []string
	for _, state := range []wrap.State{wrap.Wrapped, wrap.Observed, wrap.Bare, wrap.Drifted, wrap.Uncovered} {
		if n := doc.Counts[state]; n > 0 {
			total += n
			counts = append(counts, p.paint(stateColors[state], fmt.Sprintf("%d %s", n, state)))
		}
	}
	if total > 0 {
		fmt.Fprintf(&p.out, "\n%s: %s\n", cmdline.CountText(total, "1 server", "%d servers"), strings.Join(counts, ", "))
	}
	if total == 0 && len(doc.Hooks) > 0 {
		p.out.WriteByte('\n')
	}
	p.hookSummary(doc.Hooks)
	if n := doc.Counts[wrap.Observed]; n > 0 {
		p.printParagraph("", fmt.Sprintf("NOTHING IS ENFORCED for %s wrapped with --observe: every call passes and is recorded.", cmdline.CountText(n, "the server", "the %d servers")))
	}
	for i, u := range doc.NotCovered {
		if i == 0 {
			fmt.Fprintln(&p.out, "\nNot covered:")
		}
		p.printParagraph("  ", fmt.Sprintf("%s: %s", u.What, u.Why))
	}
	var next []string
	if doc.Counts[wrap.Bare]+doc.Counts[wrap.Drifted] > 0 {
		next = append(next, "clawai wrap")
	}
	for _, h := range doc.Hooks {
		if h.State == wrap.HookDrifted {
			next = append(next, "clawai wrap --hooks "+h.Client)
		}
	}
	for i, command := range next {
		if i == 0 {
			p.out.WriteByte('\n')
		}
		fmt.Fprintln(&p.out, "Next: "+command)
	}
}

// printParagraph prints a text. The lines after the first are indented by two more columns.
func (p *statusPrinter) printParagraph(indent, text string) {
	for i, line := range view.WrapWords(text, max(0, p.width-len(indent)-3)) {
		if i > 0 {
			line = "  " + line
		}
		fmt.Fprintln(&p.out, indent+line)
	}
}
