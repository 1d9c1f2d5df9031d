package view

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// deed describes what a call would do, in words for a headline: verb, object, tail. The words come
// from the names of the tool and its arguments. The server chooses these names, so the call itself
// is also shown.
type deed struct {
	verb   string // our own verb, or the name of the tool
	object name
	tail   string   // text after the object, such as "  +3 −1"
	counts bool     // the headline has the name of the only changed file and the number of its changed lines
	told   []string // values of the arguments that are in the headline, as shown
}

// Headline returns the request in one line of at most cells cells: the server and what it wants. 0
// means maxHeadline cells. If the object is too long, its middle is left out.
func (q Question) Headline(cells int) string {
	if cells <= 0 {
		cells = maxHeadline
	}
	who := q.who.cutText(max(8, min(30, cells/3)))
	switch n := len(q.Requests); {
	case n == 0:
		return clipText(who+" wants what cannot be shown", cells)
	case n > 1:
		if q.Reply {
			return clipText(fmt.Sprintf("%s answers %d calls at once", who, n), cells)
		}
		return clipText(fmt.Sprintf("%s wants %d things at once", who, n), cells)
	}
	return q.Requests[0].deed.renderDeed(who+" ", cells)
}

const maxHeadline = 240

// HeadlineServer returns the name of the server as the headline shows it.
func (q Question) HeadlineServer() string { return q.who.cutText(30) }

// HeadlineRow returns the headline, followed by arguments that are not in it, in at most cells
// cells.
func (q Question) HeadlineRow(cells int) string {
	s := q.Headline(cells)
	if len(q.Requests) != 1 || q.Requests[0].deed.counts {
		return s
	}
	r := &q.Requests[0]
	for i := range r.Args {
		if Width(s) >= cells {
			break
		}
		if a := &r.Args[i]; !slices.Contains(r.deed.told, a.Value) {
			s += "  " + a.PathLine()
		}
	}
	return clipText(s, cells)
}

// setPast changes the verb for a question about the reply to a call, because the call was already
// made.
func (d *deed) setPast() {
	if rest, ok := strings.CutPrefix(d.verb, "wants to "); ok {
		d.verb = "was asked to " + rest
	}
	if strings.HasPrefix(d.object.text, "notifications/") { // a notification has no reply: the server itself has sent the notification
		d.verb = "has sent"
	}
}

func (d *deed) renderDeed(before string, cells int) string {
	before += d.verb
	room := cells - Width(before) - 1 - Width(d.tail)
	if object := d.object.cutText(max(room, 8)); object != "" {
		before += " " + object
	}
	return clipText(before+d.tail, cells)
}

// deedOf returns the deed of a call.
func deedOf(c *policy.Call, r *Request, leaves []leaf, home string) deed {
	named := func(i int) name {
		if i >= 0 && i < len(c.Names) {
			return nameOf(c.Names[i])
		}
		return name{}
	}
	switch c.Subject {
	case policy.ToolSubject:
		return toolDeed(c, r, leaves, home)
	case policy.ResourceSubject:
		return deed{verb: "wants to read", object: named(0), tail: moreText(len(c.Names))}
	case policy.PromptSubject:
		return deed{verb: "wants to give the prompt", object: named(0)}
	case policy.SamplingSubject:
		return deed{verb: "wants your model to read", object: named(len(c.Names) - 1).withQuotes(), tail: moreText(len(c.Names))}
	case policy.ElicitationSubject:
		if len(c.Names) > 1 {
			return deed{verb: "wants you to open", object: named(1), tail: moreText(len(c.Names) - 1)}
		}
		return deed{verb: "wants to ask you", object: named(0).withQuotes()}
	default:
		return deed{verb: "wants to call", object: nameOf(c.Method)}
	}
}

func moreText(n int) string {
	if n > 1 {
		return fmt.Sprintf(" and %d more", n-1)
	}
	return ""
}

// fileDeeds are verbs for tools that work on files. words are words of a tool's name that give the
// verb. A name may match several rows. The first of these rows gives the verb, so the most serious
// verbs come first.
var fileDeeds = []struct{ verb, words string }{
	{"delete", "delete remove rm rmdir unlink trash erase purge destroy wipe"},
	{"move", "move mv rename"},
	{"copy", "copy cp clone"},
	{"append to", "append"},
	{"edit", "edit patch replace modify update insert"},
	{"write", "write create save put overwrite touch make mkdir export download"},
	{"list", "list ls tree"},
	{"search", "search find grep glob"},
	{"look at", "info stat metadata"},
	{"read", "read cat view open get show head tail"},
}

// addressDeeds are verbs for tools that work on the address of a web page.
var addressDeeds = []struct{ verb, words string }{
	{"open", "navigate goto open browse visit new"},
	{"fetch", "fetch get request download http read scrape crawl"},
}

var (
	soughtKeys       = []string{"pattern", "query", "regex", "glob"}        // names of arguments that hold a text to search for
	plainCommandKeys = []string{"command", "cmd", "cmdline", "commandline"} // names of arguments that hold a command in every tool
)

func toolDeed(c *policy.Call, r *Request, leaves []leaf, home string) deed {
	var tool string
	if len(c.Names) > 0 {
		tool = c.Names[0]
	}
	list := textclass.SplitWords(tool)
	if d, ok := namedDeed(list, leaves, home); ok {
		return d
	}
	if textclass.RunsText(tool) {
		if words := runWords(tool, leaves); len(words) > 0 {
			return deed{verb: "wants to run", object: nameOf(strings.Join(words, " ")), told: quoteValues(words)}
		}
	}
	if a := findTexts(leaves, func(key string) bool {
		return key == "sql" || textclass.EffectsOf(list)&textclass.Queries != 0 && slices.Contains(queryKeys, key)
	}); len(a) > 0 {
		return deed{verb: "wants to run the SQL", object: nameOf(a[0]), told: quoteValues(a[:1])}
	}
	if d, ok := composedDeed(list, leaves, home); ok {
		return d
	}
	paths := findTexts(leaves, isPathKey)
	paths = slices.DeleteFunc(paths, func(s string) bool { return strings.Contains(s, "://") })
	if len(paths) > 0 {
		return pathDeed(tool, list, paths, r, leaves, home)
	}
	if a := findTexts(leaves, func(key string) bool { return slices.Contains([]string{"url", "urls", "uri", "href"}, key) }); len(a) > 0 {
		for _, row := range addressDeeds {
			if hasAny(list, strings.Fields(row.words)) {
				return deed{verb: "wants to " + row.verb, object: nameOf(a[0]), tail: moreText(len(a)), told: quoteValues(a[:1])}
			}
		}
		return deed{verb: "wants to call " + nameOf(tool).cutText(40) + " with", object: nameOf(a[0]), tail: moreText(len(a)), told: quoteValues(a[:1])}
	}
	if words := findTexts(leaves, func(key string) bool { return slices.Contains(plainCommandKeys, key) }); len(words) > 0 {
		return deed{verb: "wants to run", object: nameOf(strings.Join(words, " ")), told: quoteValues(words)}
	}
	return deed{verb: "wants to call", object: nameOf(tool)}
}

func pathDeed(tool string, list, paths []string, r *Request, leaves []leaf, home string) deed {
	verb := ""
	for _, row := range fileDeeds {
		if verb == "" && hasAny(list, strings.Fields(row.words)) {
			verb = row.verb
		}
	}
	if command, ok := memberText(leaves, "", []string{"command"}); ok && len(r.Diff) == 0 && command == "view" {
		verb = "read"
	}
	if verb == "write" && hasAny(list, []string{"directory", "folder", "dir", "mkdir"}) {
		verb = "create the folder"
	}
	d := deed{verb: "wants to " + verb, object: pathName(paths[0], home), told: quoteValues(paths[:1])}
	switch {
	case verb == "":
		return deed{verb: "wants to call " + nameOf(tool).cutText(40) + " on", object: d.object, tail: moreText(len(paths)), told: d.told}
	case (verb == "move" || verb == "copy") && len(paths) == 2:
		d.tail, d.told = " to "+pathName(paths[1], home).cutText(40), quoteValues(paths)
	case verb == "search":
		if sought := findTexts(leaves, func(key string) bool { return slices.Contains(soughtKeys, key) }); len(sought) > 0 {
			d.tail, d.told = " for "+nameOf(sought[0]).withQuotes().cutText(30), append(d.told, quoteValues(sought[:1])...)
		}
	case r.changed.files > 0:
		if verb == "write" && r.changed.note == aNewFile {
			d.verb = "wants to create"
		}
		d.tail, d.counts = moreText(r.changed.files)+"  "+r.changed.countText(), r.changed.files == 1
	default:
		d.tail = moreText(len(paths))
	}
	s := sentence{leaves: leaves, home: home}
	if where := s.findRepository(); where.text != "" && verb != "" {
		d.tail, d.told = d.tail+" in "+where.cutText(40), append(d.told, s.told...)
	}
	return d
}

// commandWords returns the words of the command that a tool would run. The first word is the
// program.
func commandWords(leaves []leaf) []string {
	is := func(later bool) []string {
		return findTexts(leaves, func(key string) bool {
			return slices.Contains(commandKeys, key) && slices.Contains(laterKeys, key) == later
		})
	}
	return append(is(false), is(true)...)
}

// quoteValues returns texts in quotes, in the form of the lines for arguments.
func quoteValues(texts []string) (values []string) {
	for _, s := range texts {
		values = append(values, term.VisibleValue(s))
	}
	return values
}

// findTexts returns the texts of members, in wire order. It takes only members with a plain name k
// for which accepts(k) is true.
func findTexts(leaves []leaf, accepts func(key string) bool) (texts []string) {
	for i := range leaves {
		if a := &leaves[i]; a.string && a.text != "" && accepts(plainKey(a.key)) {
			texts = append(texts, a.text)
		}
	}
	return texts
}

// pathName returns a path for a headline. If the path is absolute and clean, the home folder in it
// becomes ~. If the path itself begins with ~, it is in quotes, because a server may take ~ for the
// name of a file.
func pathName(s, home string) name {
	if home != "" && path.Clean(s) == s {
		if short := TildePath(s, home); short != s && bareName(short) {
			return name{text: short}
		}
	}
	if strings.HasPrefix(s, "~") {
		return nameOf(s).withQuotes()
	}
	return nameOf(s)
}
