package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// shape is the parsed form of one entry.
type shape struct {
	kind    ServerKind
	why     string // for kind Other: why the server cannot be wrapped
	problem *fault // why the entry must not be edited; nil if it may be
	unclear bool   // two programs may read the entry differently
	mixed   *fault // why a process must not be wrapped, such as a url in the entry; nil if it may be
	sandbox clientSandbox

	command *member // nil unless kind is Stdio
	args    *member // nil if it is missing, or if the command is a list
	words   []*node // the program, then its arguments
	list    *node   // the list with the words or the arguments; nil if there is none

	env         []Variable // environment of the process, without the variables that Wrap added
	environment []*member  // environment of the process, with all variables
	holder      *node      // the object with the command or the url: the entry, or a member of it
	typ         *member    // the member with the transport; nil if it is missing
	remote      *remote    // nil unless kind is Remote
}

type shapeReader struct {
	row  Row
	slot slot
	shape
	hard bool // there is a problem that refuseForBridge did not add
}

func readShape(r Row, s slot) shape {
	reader := shapeReader{row: r, slot: s}
	reader.readEntry()
	return reader.shape
}

func (s *shapeReader) markOther(why string) { s.kind, s.why = Other, why }

// fault is an EditError with an offset instead of a line. The line is counted only if the error is
// shown, because a file can have many entries with faults.
type fault struct {
	at         int
	next, what string
}

func (s *shapeReader) keepProblem(at int, next, what string, values ...any) {
	s.hard = true
	if s.problem == nil {
		s.problem = &fault{at, next, fmt.Sprintf(what, values...)}
	}
}

func (s *shapeReader) readEntry() {
	n := s.slot.value
	if n.kind != objectKind {
		s.markOther("the entry is " + n.kind.String())
		return
	}
	if s.row.Container == List || s.row.Container == Tables {
		if m, _ := n.findMember(s.row.NameField); m == nil || m.value.kind != stringKind {
			s.markOther("the entry has no name")
			return
		}
	}
	s.readKeys(n)
	s.checkEditable(n)
	holder := s.findHolder(n)
	s.command, _ = holder.findMember(s.row.commandKey())
	if s.command != nil && s.command.value.kind == nullKind {
		s.command = nil
	}
	s.holder = holder
	s.classifyEntry(n, holder)
	switch s.kind {
	case Stdio:
		s.readCommand(holder)
		s.readBridge()
		s.readEnvironment(n)
		s.readSandbox(n)
	case Remote:
		s.readRemote(n)
	}
}

// checkEditable adds a problem if the node must not be edited.
func (s *shapeReader) checkEditable(n *node) {
	if n.refused != "" {
		s.keepProblem(n.start, nextYAML, "the entry of %q uses %s", s.slot.name, n.refused)
	}
}

// findHolder returns the object with the command: the entry, or a member of it.
func (s *shapeReader) findHolder(n *node) *node {
	nested, _ := n.findMember(s.row.Nested)
	if s.row.Nested == "" || nested == nil || nested.value.kind != objectKind {
		return n
	}
	s.checkEditable(nested.value)
	if m, _ := n.findMember(s.row.commandKey()); m != nil {
		if inner, _ := nested.value.findMember(s.row.commandKey()); inner != nil {
			s.keepProblem(inner.start, nextDuplicate, "the entry of %q has a command of its own and one in %q", s.slot.name, s.row.Nested)
		}
		return n
	}
	return nested.value
}

// classifyEntry decides whether an entry is a process or a remote server. The type of the entry
// decides, if it has one. A process with a url is refused, because some clients use the command and
// others the url.
func (s *shapeReader) classifyEntry(entry, holder *node) {
	url := s.findURL(entry)
	if url == nil {
		url = s.findURL(holder)
	} else {
		s.holder = entry
	}
	typ, _ := holder.findMember(s.row.typeKey())
	if typ == nil {
		typ, _ = entry.findMember(s.row.typeKey())
	}
	s.typ = typ
	typed := s.row.TypeField != "" && typ != nil && typ.value.kind == stringKind && len(s.row.StdioTypes) > 0
	process := typed && slices.Contains(s.row.StdioTypes, typ.value.text)
	switch {
	case typed && !process && url != nil, url != nil && s.command == nil:
		s.kind, s.remote = Remote, &remote{url: url}
	case typed && !process:
		s.markOther("its type is " + quoteText(typ.value.text))
	case s.command == nil:
		s.markOther("it has no command")
	default:
		s.kind = Stdio
		if url != nil {
			s.mixed = &fault{url.start, nextDuplicate, fmt.Sprintf("the entry of %q has a command and a url", s.slot.name)}
		}
	}
}

func (s *shapeReader) findURL(n *node) *member {
	for _, field := range s.row.URLFields {
		if m, _ := n.findMember(field); m != nil && m.value.kind != nullKind {
			return m
		}
	}
	return nil
}

func (s *shapeReader) readCommand(holder *node) {
	switch v := s.command.value; {
	case s.row.CommandForm == ArrayCommand:
		if v.kind != listKind {
			s.keepProblem(v.start, nextCommand, "the command of %q is %s, not a list", s.slot.name, v.kind)
			return
		}
		s.list = v
		s.words = v.items
		if len(v.items) == 0 {
			s.keepProblem(v.start, nextCommand, "the command of %q is empty", s.slot.name)
		}
	case s.row.CommandForm == ObjectCommand && v.kind == objectKind:
		s.checkEditable(v)
		path, _ := v.findMember("path")
		if path == nil {
			s.keepProblem(v.start, nextCommand, "the command of %q has no path", s.slot.name)
			return
		}
		s.command = path
		s.readArgs(v, "args")
	default:
		s.readArgs(holder, s.row.argsKey())
	}
	s.checkWords()
}

const nextCommand = "write it as the client's documentation shows"

func (s *shapeReader) readArgs(holder *node, key string) {
	s.words = []*node{s.command.value}
	s.args, _ = holder.findMember(key)
	if s.args == nil {
		return
	}
	v := s.args.value
	if v.kind != listKind {
		s.keepProblem(v.start, "write [] or take the key out", "the arguments of %q are %s, not a list", s.slot.name, v.kind)
		return
	}
	s.list = v
	s.words = append(s.words, v.items...)
}

func (s *shapeReader) checkWords() {
	if s.list != nil {
		s.checkEditable(s.list)
	}
	for i, w := range s.words {
		s.checkEditable(w)
		if w.kind == stringKind {
			continue
		}
		what := "an argument"
		if i == 0 {
			what = "the command"
		}
		s.keepProblem(w.start, "write it as a string", "%s of %q is %s, not a string", what, s.slot.name, w.kind)
	}
	if s.problem == nil && s.words[0].text == "" {
		s.keepProblem(s.words[0].start, nextCommand, "the command of %q is empty", s.slot.name)
	}
}

// expandsText reports whether the client may expand a text.
func (r Row) expandsText(text string) bool {
	if strings.Contains(text, "${") {
		return true
	}
	return matchesAny(r.Interpolation, text)
}

// matchesAny reports whether one of the regular expressions matches. An invalid expression matches
// everything.
func matchesAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		re, err := regexp.Compile(pattern)
		return err != nil || re.MatchString(text)
	})
}

// checkFit returns the reason why a process must not be wrapped; nil if it may be. For example, the
// client must not expand the command, because Wrap moves the command to a place where the client
// expands nothing.
func (sh *shape) checkFit(r Row, name string) *fault {
	w := sh.words[0]
	if sh.mixed != nil || r.ExpandsArgs || r.CommandForm == ArrayCommand || !r.expandsText(w.text) {
		return sh.mixed
	}
	return &fault{w.start, "write the command out",
		fmt.Sprintf("the command of %q holds a variable, which this client fills in only there", name)}
}
