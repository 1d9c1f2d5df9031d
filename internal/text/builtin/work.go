package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// MaxPlaces is the maximum number of files or pages in one call.
const MaxPlaces = 100

// CompleteArguments adds arguments of the class to the arguments of a client's tool. It extracts
// them from texts and lists in args. If that is impossible, the error tells the agent why, and no
// rule may allow the call. args is nil or a JSON object that a strict reader has accepted; it stays
// unchanged. A second call on the result adds nothing.
func CompleteArguments(client, tool string, args []byte) ([]byte, error) {
	t := FindTool(client, tool)
	members, err := parseMembers(args)
	if err != nil {
		return nil, err
	}
	if err := t.checkSingle(members); err != nil {
		return nil, err
	}
	if args, err = t.gatherArguments(members, args); err != nil {
		return nil, err
	}
	var name string
	var all []string
	switch t.workKind() {
	case patchFiles:
		name = "path"
		all, err = t.patchPlaces(members)
	case promptURLs:
		name, all = "url", listURLs(members.memberText("prompt"))
		if len(all) == 0 {
			err = errors.New("its prompt names no URL")
		}
	case noExtraction:
		return t.addPlaces(args, members)
	}
	switch {
	case err != nil:
		return nil, err
	case len(all) > MaxPlaces:
		return nil, fmt.Errorf("it names more than %d places at once; split it", MaxPlaces)
	}
	return members.addMember(args, name, encodeTexts(all))
}

// gatherArguments adds arguments of the class that are inside the objects of a list, such as the
// paths of several files. If the list has another form, it returns an error, because rules would
// not see what the list contains.
func (t Tool) gatherArguments(members object, args []byte) ([]byte, error) {
	if t.row == nil {
		return args, nil
	}
	for pair := range strings.FieldsSeq(t.row.args) {
		from, shared, _ := strings.Cut(pair, ">")
		outer, inner, listed := strings.Cut(from, "[].")
		if !listed {
			continue
		}
		for _, m := range members {
			if inner == commandArgument && m.name == wordsArgument {
				return nil, fmt.Errorf("it has %q beside the command", wordsArgument)
			}
			if m.name != outer {
				continue
			}
			v := jsonscan.ValueOf([]byte(m.raw))
			if t.SharedName(outer) == shared && holdsTexts(v) {
				continue // no copy is needed, because rules read a text or a list of texts directly
			}
			all, err := collectTexts(v, inner)
			switch {
			case err != nil:
				return nil, fmt.Errorf("%q: %w", outer, err)
			case len(all) > MaxPlaces:
				return nil, fmt.Errorf("it names more than %d places at once; split it", MaxPlaces)
			case len(all) == 0:
				continue
			}
			if args, err = members.addMember(args, shared, encodeTexts(all)); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

// holdsTexts reports whether a JSON value is a string or a list of strings.
func holdsTexts(v jsonscan.Value) bool {
	if v.Kind() != jsonscan.Array {
		return v.Kind() == jsonscan.String
	}
	for e := range v.Elements() {
		if e.Kind() != jsonscan.String {
			return false
		}
	}
	return true
}

// collectTexts returns the strings in a list, and the strings in a member of the list's objects.
// The parameter name is the name of this member.
func collectTexts(v jsonscan.Value, name string) (all []string, err error) {
	if v.Kind() == jsonscan.String {
		return []string{v.Text()}, nil
	}
	elements := v.Elements()
	switch v.Kind() {
	case jsonscan.Array:
	case jsonscan.Object: // one object instead of a list
		elements = slices.Values([]jsonscan.Value{v})
	default:
		return nil, errors.New("it is not a list")
	}
	for e := range elements {
		if e.Kind() == jsonscan.Object {
			for key, value := range e.Members() {
				switch own := key.Text(); {
				case own == name:
				case NamesPlace(own):
					return nil, fmt.Errorf("one of the list names a file by %q, of which nothing is known", own)
				case name == commandArgument && own != wordsArgument && isNested(value):
					return nil, fmt.Errorf("one of the list has objects in %q, of which nothing is known", own)
				}
			}
			words := e.Member(wordsArgument)
			if e = e.Member(name); e.Kind() == jsonscan.Absent {
				continue // this object has no such member
			}
			if name == commandArgument && e.Kind() == jsonscan.String && words.Kind() != jsonscan.Absent {
				line, err := commandLine(e.Text(), words)
				if err != nil {
					return nil, err
				}
				all = append(all, line)
				continue
			}
		}
		if e.Kind() != jsonscan.String {
			return nil, fmt.Errorf("one of the list has no %s that can be read", name)
		}
		all = append(all, e.Text())
	}
	return all, nil
}

// isNested reports whether a JSON value is an object, or a list with an object or a list inside.
func isNested(v jsonscan.Value) bool {
	if v.Kind() == jsonscan.Object {
		return true
	}
	for e := range v.Elements() {
		if e.Kind() == jsonscan.Object || e.Kind() == jsonscan.Array {
			return true
		}
	}
	return false
}

// Some tools have one argument for the program and one for the program's arguments.
const (
	commandArgument = "command"
	wordsArgument   = "args"
)

// commandLine returns a program and its arguments as a shell command in which each of them is one
// word.
func commandLine(program string, args jsonscan.Value) (string, error) {
	if !holdsTexts(args) || args.Kind() != jsonscan.Array {
		return "", errors.New("the arguments beside a command are not a list of texts")
	}
	line := program
	for a := range args.Elements() {
		line += " " + shellWord(a.Text())
	}
	return line, nil
}

// shellWord returns a text in quotes, so that a shell reads it as one word.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// checkSingle returns an error if two arguments of a call have the same shared name, because it is
// unknown which of them the client uses.
func (t Tool) checkSingle(members object) error {
	seen := map[string]string{}
	for _, m := range members {
		shared := t.SharedName(m.name)
		switch {
		case t.isDerived(m.name):
			continue
		case shared == "":
			shared = m.name
		}
		if other, twice := seen[shared]; twice {
			return fmt.Errorf("%q and %q are one argument", other, m.name)
		}
		seen[shared] = m.name
	}
	return nil
}

// object holds the members of a JSON object. raw is the JSON of a member's value. text is the
// decoded value if it is a string, otherwise "".
type object []member

type member struct{ name, raw, text string }

func (o object) memberText(name string) string {
	for _, m := range o {
		if m.name == name {
			return m.text
		}
	}
	return ""
}

func parseMembers(args []byte) (all object, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	c := jsonscan.Cursor{Src: string(args)}
	c.SkipBlanks()
	if !c.VisitMembers(func(name string) bool {
		start, text, ok := c.At, "", false
		if c.Peek() == '"' {
			text, ok = c.ReadString()
		} else {
			ok = c.SkipValue()
		}
		all = append(all, member{name, c.Src[start:c.At], text})
		return ok
	}) {
		return nil, errors.New("its arguments are not an object")
	}
	return all, nil
}

// addMember adds a member to args. If a member of this name already has an equal value, nothing
// changes; if it has another value, addMember returns an error.
func (o object) addMember(args []byte, name, value string) ([]byte, error) {
	for _, m := range o {
		switch {
		case m.name == name && m.raw == value:
			return args, nil
		case m.name == name:
			return nil, fmt.Errorf("it has a %q of its own", name)
		}
	}
	comma := ","
	if len(o) == 0 {
		comma = ""
	}
	open := slices.Index(args, '{') + 1
	return slices.Concat(args[:open], []byte(strconv.Quote(name)+":"+value+comma), args[open:]), nil
}

// encodeTexts returns texts as a JSON list.
func encodeTexts(texts []string) string {
	out := "["
	for i, s := range texts {
		if i > 0 {
			out += ","
		}
		out = string(escape.AppendEscaped([]byte(out+`"`), s)) + `"`
	}
	return out + "]"
}

// headings are the beginnings of the lines in a patch that name a file.
var headings = []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// patchPlaces lists every file that a patch in the format of apply_patch names.
func (t Tool) patchPlaces(members object) (all []string, err error) {
	for _, m := range members {
		if t.SharedName(m.name) != "content" {
			continue
		}
		for line := range strings.Lines(m.text) {
			line = strings.TrimSpace(line)
			for _, h := range headings {
				if path, found := strings.CutPrefix(line, h); found {
					all = append(all, strings.TrimSpace(path))
				}
			}
		}
	}
	if len(all) == 0 || slices.Contains(all, "") {
		return nil, errors.New("the patch names no file")
	}
	return all, nil
}

// listURLs lists the URLs in a text that a client may open.
func listURLs(s string) (all []string) {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"'`(){}[]|\\^", r) }) {
		low := strings.ToLower(word)
		at := strings.Index(low, "http://")
		if secure := strings.Index(low, "https://"); secure >= 0 && (at < 0 || secure < at) {
			at = secure
		}
		if at < 0 {
			continue
		}
		url := word[at:]
		all = append(all, url)
		if bare := strings.TrimRight(url, ".,;:!?"); bare != url {
			all = append(all, bare)
		}
	}
	return all
}
