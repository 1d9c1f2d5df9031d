package view

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
)

// MaxFile is the maximum size in bytes of a file that is compared, and of its new content.
const MaxFile = 1 << 20

// ErrTooLarge is the error that Options.ReadFile returns for a file larger than MaxFile.
var ErrTooLarge = errors.New("too large for a comparison")

// aNewFile is the note for a file that does not exist yet.
const aNewFile = "a new file"

const (
	maxDiff = 2000 // maximum number of lines for all changes of a question
	context = 3    // unchanged lines shown before and after each change
)

// differ makes the lines that show the changes of a call.
type differ struct {
	read  func(string) ([]byte, error)
	home  string
	lines []DiffLine
	left  *int
	changed
}

// changed sums up the changes of a call.
type changed struct {
	files, plus, minus int
	note               string // the note of the last change
}

// countText returns the number of added and removed lines: "+3 −1".
func (c *changed) countText() string { return fmt.Sprintf("+%d −%d", c.plus, c.minus) }

// diffFiles returns the changes that a call would make to files; nil if they are unknown.
func diffFiles(list []string, leaves []leaf, o Options, left *int) ([]DiffLine, changed) {
	d := differ{read: o.ReadFile, home: o.Home, left: left}
	if patch, ok := memberText(leaves, "", patchKeys); ok && hasAny(list, []string{"patch", "diff"}) {
		d.addPatch(patch)
		return d.lines, d.changed
	}
	if textclass.ChangesFiles(list) {
		for _, c := range findChanges(list, leaves) {
			d.addChange(&c)
		}
	}
	return d.lines, d.changed
}

// addChange adds the lines for one change. If the file on disk can be read, the change is compared
// with the file.
func (d *differ) addChange(c *change) {
	was, note, known := d.onDisk(c.path)
	name := pathName(c.path, d.home).cutText(maxName)
	if c.changeSize() > MaxFile {
		d.tooLarge(name)
		return
	}
	if c.inserted != nil {
		d.addEdits(name, c.at, compareLines(nil, splitLines(*c.inserted)))
		return
	}
	if c.content != nil {
		if note == "" && !known {
			return
		}
		d.addEdits(name, cmp.Or(note, lastLine(was, *c.content)), compareLines(splitLines(was), splitLines(*c.content)))
		return
	}
	will := was
	for i, e := range c.edits {
		at := fmt.Sprintf("change %d of %d", i+1, len(c.edits))
		n := strings.Count(will, e.old)
		switch {
		case e.old == "" || note != "" || !known:
		case n == 0:
			note = at + ": the text to replace is not in the file"
		case n > 1:
			note = fmt.Sprintf("%s: the text to replace is in the file %d times; which of them goes, the server decides", at, n)
		default:
			will = strings.Replace(will, e.old, e.new, 1)
			continue
		}
		known = false
	}
	if known {
		d.addEdits(name, lastLine(was, will), compareLines(splitLines(was), splitLines(will)))
		return
	}
	var edits []edit
	for _, e := range c.edits {
		edits = append(edits, compareLines(splitLines(e.old), splitLines(e.new))...)
	}
	d.addEdits(name, cmp.Or(note, "not compared with the file"), edits)
}

// onDisk returns the text of a file on disk. If the text cannot be compared, known is false, and
// note is the reason, or "" if clawai did not try to read the file. For a missing file, known is
// true, the text is empty, and note is aNewFile.
func (d *differ) onDisk(name string) (text, note string, known bool) {
	drive := len(name) > 2 && name[1] == ':' && name[2] == '\\'
	if d.read == nil || len(name) > maxName || !drive && (!isRooted(name) || path.Clean(name) != name) || drive && strings.Contains(name, `\..`) ||
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", "", false
	}
	b, err := d.read(name)
	var failed *fs.PathError
	switch {
	case err == nil && len(b) <= MaxFile:
		return string(b), "", true
	case err == nil, errors.Is(err, ErrTooLarge):
		return "", "the file on disk is too large for a comparison", false
	case errors.Is(err, fs.ErrNotExist):
		return "", aNewFile, true
	case errors.As(err, &failed):
		err = failed.Err
	}
	return "", "the file on disk cannot be read: " + term.VisibleText(err.Error()), false
}

// lastLine returns a note if the two texts are equal, or if only one of them has a line end in its
// last line. The lines of the comparison do not show this.
func lastLine(was, will string) string {
	switch before, after := strings.HasSuffix(was, "\n"), strings.HasSuffix(will, "\n"); {
	case was == will:
		return "the file stays as it is"
	case was == "" || will == "" || before == after:
		return ""
	case after:
		return "the last line gets a line end"
	}
	return "the last line loses its line end"
}

// splitLines splits a text into lines without their line ends.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// addPatch adds the lines of a patch as they are in the call.
func (d *differ) addPatch(text string) {
	if len(text) > MaxFile {
		d.tooLarge("a patch")
		return
	}
	var edits []edit
	for _, line := range splitLines(text) {
		op := byte('@')
		if line != "" && strings.IndexByte("+- ", line[0]) >= 0 && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			op, line = line[0], line[1:]
		}
		edits = append(edits, edit{op, line})
	}
	d.addEdits("a patch", "", edits)
}

// tooLarge adds a note in place of a change that is too large to be shown.
func (d *differ) tooLarge(name string) {
	d.note, d.files = "too large for a comparison", d.files+1
	d.lines = append(d.lines, DiffLine{'#', name + ": " + d.note})
}

// addEdits adds the changed lines of one file below a headline with its name.
func (d *differ) addEdits(name, note string, edits []edit) {
	var own changed
	for _, e := range edits {
		switch e.op {
		case '+':
			own.plus++
		case '-':
			own.minus++
		}
	}
	d.changed = changed{d.files + 1, d.plus + own.plus, d.minus + own.minus, note}
	head := name + "  " + own.countText()
	if note != "" {
		head += "; " + note
	}
	d.lines = append(d.lines, DiffLine{'#', head})
	stays := 0
	for i := range edits {
		if !isNearChange(edits, i) {
			stays++
			continue
		}
		d.addGap(&stays)
		if *d.left == 0 {
			d.lines = append(d.lines, DiffLine{'#', fmt.Sprintf("… the next %s not shown here …", formatLineCount(len(edits)-i, "is", "are"))})
			return
		}
		*d.left--
		text := plainLine(edits[i].line)
		if isFolded(edits[i].line) {
			text = term.VisibleValue(edits[i].line)
		}
		d.lines = append(d.lines, DiffLine{edits[i].op, text})
	}
	d.addGap(&stays)
}

func (d *differ) addGap(stays *int) {
	if *stays > 0 {
		d.lines = append(d.lines, DiffLine{'#', fmt.Sprintf("… %s …", formatLineCount(*stays, "stays", "stay"))})
	}
	*stays = 0
}

func formatLineCount(n int, one, many string) string {
	if n == 1 {
		return "1 line " + one
	}
	return fmt.Sprintf("%d lines %s", n, many)
}

// isNearChange reports whether line i is a change or at most context lines away from one.
func isNearChange(edits []edit, i int) bool {
	for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
		if edits[j].op != ' ' {
			return true
		}
	}
	return false
}
