package view

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/preview/report"
	"github.com/clawai/clawai/internal/text/term"
)

// Maximum numbers in the preview part of a question. Changes that are not listed are still counted.
const (
	maxListed  = 30  // changed files
	maxChanged = 120 // lines that show changed text
	maxSaid    = 5   // output lines of a command that failed
)

// PreviewLines returns the results of a preview as lines without control characters.
func PreviewLines(r *report.Result, home string) []string {
	return listPreview(r, Options{Home: home})
}

// BriefPreview returns the results of a preview on one line.
func BriefPreview(r *report.Result) string {
	if r.Fault != "" {
		return "none: " + term.VisibleText(r.Fault)
	}
	text := countChanges(r) + "; " + endText(r)
	if len(r.Programs) > 0 {
		text += "; it started " + joinNames(programNames(r))
	}
	if len(r.Hosts) > 0 {
		text += "; it asked for " + joinNames(r.Hosts)
	}
	return text
}

// previewLines returns the lines about a preview in a question.
func previewLines(text []byte, o Options) []string {
	var r report.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return []string{LabelLine("preview", "none: it cannot be read")}
	}
	return listPreview(&r, o)
}

func listPreview(r *report.Result, o Options) (lines []string) {
	if r.Fault != "" {
		return []string{LabelLine("preview", BriefPreview(r))}
	}
	lines = []string{LabelLine("preview", countChanges(r)+"; "+endText(r))}
	if !o.Brief {
		lines = append(lines, listFiles(r, o.Home)...)
	}
	if len(r.Programs) > 0 {
		lines = append(lines, LabelLine("started", joinNames(programNames(r))))
	}
	if len(r.Hosts) > 0 {
		lines = append(lines, LabelLine("asked for", joinNames(r.Hosts)))
	}
	if r.Code != 0 && !o.Brief {
		said := splitLines(strings.TrimSpace(r.Output))
		for _, line := range said[max(0, len(said)-maxSaid):] {
			lines = append(lines, Gutter+term.VisibleText(line))
		}
	}
	for _, doubt := range doubtsOf(r) {
		lines = append(lines, LabelLine("unforeseen", doubt))
	}
	return lines
}

func programNames(r *report.Result) (names []string) {
	for _, p := range r.Programs {
		if name := path.Base(p); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// countChanges returns a text with the number of files that a command would write.
func countChanges(r *report.Result) string {
	var parts []string
	for _, c := range []struct {
		verb string
		n    int
	}{{"create", r.Counts.Created}, {"change", r.Counts.Changed}, {"delete", r.Counts.Deleted}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.verb, c.n))
		}
	}
	switch n := r.Counts.Created + r.Counts.Changed + r.Counts.Deleted; n {
	case 0:
		return "it would change no file"
	case 1:
		return "it would " + parts[0] + " file"
	}
	return "it would " + strings.Join(parts, ", ") + " files"
}

// endText tells how a command ended.
func endText(r *report.Result) (text string) {
	switch r.Ended {
	case report.ByTime:
		text = "it had not ended when its time was up, so this is what it had done by then"
	case report.ByMemory:
		text = "it took more memory than a preview has, and was ended"
	case report.ByPrograms:
		text = "it started more programs at once than a preview allows, and was ended"
	case report.BySignal:
		text = fmt.Sprintf("it was ended by signal %d", r.Code)
	default:
		text = fmt.Sprintf("it ended with exit code %d", r.Code)
	}
	if r.Left > 0 {
		text += fmt.Sprintf(", and %s of it", formatCount(r.Left, "1 process was left", "%d processes were left"))
	}
	return text
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// doubtsOf returns sentences about effects that the preview of a command could not show.
func doubtsOf(r *report.Result) (doubts []string) {
	add := func(on bool, text string) {
		if on {
			doubts = append(doubts, text)
		}
	}
	add(len(r.Hosts) > 0, "the network gave no answer, so what it would do with one is not in this list")
	add(strings.Contains(r.Output, "Read-only file system"), "it wanted to write where a preview keeps nothing, and was refused")
	add(r.Full, "it wrote more than a preview keeps (512 MiB), so something of it failed")
	add(r.Unread, "there was no time to read all that it wrote, so the list is not whole")
	add(r.Unlisted > 0, formatCount(r.Unlisted, "1 change is counted and not listed", "%d changes are counted and not listed"))
	add(r.Untraced, "this system lets nobody see which programs it started")
	add(slices.ContainsFunc(r.Changes, func(c report.Change) bool { return c.Names > 0 }), "a changed file has further names (hard links), which may change with it")
	add(true, "the time, other programs and their sockets, secrets (they were empty), and what changes meanwhile")
	return doubts
}

// changeWords holds the verb for each kind of change.
var changeWords = map[string]string{report.Created: "create", report.Changed: "change", report.Deleted: "delete", report.Replaced: "replace", report.Modified: "mode"}

// listFiles returns a line for each changed file. If a change is small, lines with the changed text
// follow.
func listFiles(r *report.Result, home string) (lines []string) {
	left := maxChanged
	for i := range r.Changes[:min(len(r.Changes), maxListed)] {
		c := &r.Changes[i]
		lines = append(lines, fmt.Sprintf("  %-8s %s", changeWords[c.What], pathName(c.Path, home).cutText(maxHeadline/2)+noteChange(c)))
		if !c.Shown || left == 0 {
			continue
		}
		d := differ{home: home, left: &left}
		d.addEdits("", "", compareLines(splitLines(c.Before), splitLines(c.After)))
		for _, line := range d.lines[1:] {
			if line.Op == '#' {
				lines = append(lines, "  "+line.Text)
			} else {
				lines = append(lines, ChangePrefix(line.Op)+line.Text)
			}
		}
	}
	if more := len(r.Changes) - maxListed; more > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more …", more))
	}
	return lines
}

// noteChange returns a note about a change of a file; "" if the file's name tells enough.
func noteChange(c *report.Change) string {
	var notes []string
	switch {
	case c.What == report.Deleted && c.Kind == "folder":
		notes = append(notes, "a folder with "+formatCount(c.Files, "1 file", "%d files"))
	case c.What == report.Modified && c.Mode == c.Was:
		notes = append(notes, "another owner")
	case c.What == report.Modified:
		notes = append(notes, fmt.Sprintf("%o, was %o", c.Mode, c.Was))
	case c.Kind == "link":
		notes = append(notes, "a link to "+nameOf(c.Link).cutText(60))
	case slices.Contains([]string{"folder", "pipe", "socket", "device"}, c.Kind):
		notes = append(notes, "a "+c.Kind)
	case c.What != report.Deleted:
		notes = append(notes, formatCount(int(c.Size), "1 byte", "%d bytes"))
	}
	if c.What == report.Replaced {
		notes = append(notes, "where something else was")
	}
	if c.Mode&0o111 != 0 && c.Kind == "file" && (c.What == report.Created || c.Was&0o111 == 0) {
		notes = append(notes, "a program")
	}
	if c.Hidden {
		notes = append(notes, "a secret place, which was empty")
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}
