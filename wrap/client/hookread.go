package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Hooked lists the hooks of a client's file.
type Hooked struct {
	Ours   []Hook
	Others []Hook
	// Broken has one *EditError for each entry that the client cannot read.
	Broken []error
	// Off is the setting in the file that disables all hooks, as "KEY is VALUE"; "" if there is
	// none.
	Off     string
	Observe bool // our hooks record only, and block nothing
	// Differs lists how our hooks differ from those that wrap would write; nil if there is no
	// difference or no hook of ours.
	Differs []string
}

// Hook is one handler of an event.
type Hook struct {
	Event     string
	Line      int
	Command   string // the command line, or for a handler without one, another text about it
	Group, At int    // index of the element in the list of the event, and index of the handler in the element

	element *node   // the element with this handler, in the list of the event
	leaf    *node   // the handler; it can be the element itself
	trail   []*node // the containers around the handler, from the root
}

// ReadHooks reads the hooks of a file. events and start describe the hooks that wrap would write,
// for Hooked.Differs. The error is an *EditError: the file cannot be read exactly, or its hooks do
// not have the form that the client requires.
func ReadHooks(r HookRow, src []byte, events []string, start HookStart) (Hooked, error) {
	if r.Format == Script {
		return readScript(r, src, events[0], start)
	}
	if r.Format == TOML {
		return readTOMLHooks(r, src, events, start)
	}
	f, err := openHooks(r, src)
	if err != nil {
		return Hooked{}, err
	}
	h := Hooked{Broken: f.broken, Off: f.findOffSwitch()}
	for _, hook := range f.all {
		if startsClawai(hook.leaf) {
			h.Ours = append(h.Ours, hook)
		} else {
			h.Others = append(h.Others, hook)
		}
	}
	if len(h.Ours) > 0 {
		h.Observe = slices.ContainsFunc(h.Ours, func(o Hook) bool { return startOf(o.leaf).Observe })
		start.Observe = h.Observe
		h.Differs, err = f.findDifferences(h.Ours, events, start)
	}
	return h, err
}

// hookFile is a hook file in a format of the JSON family.
type hookFile struct {
	file
	hooks  HookRow
	root   *node
	all    []Hook
	broken []error
}

func openHooks(r HookRow, src []byte) (*hookFile, error) {
	row := Row{Format: r.Format, Name: r.Name}
	root, err := parseFile(row, src)
	if err != nil {
		return nil, err
	}
	f := &hookFile{file: file{row: row, src: src}, hooks: r, root: root}
	if root == nil {
		return nil, newEditError(src, len(src), "remove it, or write {} into it", "the file is empty")
	}
	return f, f.readHandlers()
}

// readHandlers reads all handlers of all events. It adds an error to f.broken for each handler that
// the client cannot read.
func (f *hookFile) readHandlers() error {
	if f.root.kind != objectKind {
		return f.wrongKind(f.root, objectKind)
	}
	if v := f.hooks.Version; v != "" {
		if m, twice := f.root.findMember("version"); twice || m == nil || f.rawText(m.value) != v {
			return newEditError(f.src, f.root.start, `write "version": `+v, `it has no "version": %s, without which %s runs no hook`, v, f.hooks.Name)
		}
	}
	keys, named := f.hooks.listPath()
	at, trail := f.root, []*node{}
	for _, key := range keys {
		m, twice := at.findMember(key)
		if twice {
			return newEditError(f.src, at.lastMember(key).start, nextDuplicate, "the key %q is there twice", key)
		}
		if m == nil {
			return nil
		}
		trail = append(trail, at)
		if at = m.value; at.kind != objectKind && (named || at.kind != listKind) {
			return f.wrongKind(at, objectKind)
		}
	}
	if !named {
		return f.readElements("", at, trail)
	}
	if m := at.ownDuplicate(); m != nil {
		return newEditError(f.src, m.start, nextDuplicate, "the key %q is there twice", m.name)
	}
	for _, m := range at.members {
		if err := f.readElements(m.name, m.value, append(slices.Clip(trail), at)); err != nil {
			return err
		}
	}
	return nil
}

func (f *hookFile) wrongKind(n *node, want kind) error {
	return newEditError(f.src, n.start, "check that the file belongs to "+f.hooks.Name, "%s stands where %s is expected", n.kind, want)
}

func (f *hookFile) addProblem(at int, next, what string, values ...any) {
	f.broken = append(f.broken, newEditError(f.src, at, next, what, values...))
}

// readElements reads the list of one event. If event is "", the list is for all events, and each
// element names its event.
func (f *hookFile) readElements(event string, list *node, trail []*node) error {
	if list.kind != listKind {
		if slices.Contains(f.hooks.EventNames(), event) || event == "" {
			return f.wrongKind(list, listKind)
		}
		return nil // this member, for example "statusLine", is not an event
	}
	for i, element := range list.items {
		leaves, why := f.hooks.findHandlers(element)
		if why != "" {
			f.addProblem(element.start, "correct it or take it out", "an entry of %s %s", cmp.Or(event, "the hooks"), why)
		}
		name := event
		if m, _ := element.findMember(f.hooks.EventKey); f.hooks.EventKey != "" && m != nil {
			name = m.value.text
		}
		inside := append(slices.Clip(trail), list)
		if m, _ := element.findMember(f.hooks.Inner); f.hooks.Inner != "" && m != nil {
			inside = append(inside, element, m.value)
		}
		for j, leaf := range leaves {
			line, _ := textPosition(f.src, leaf.start)
			f.all = append(f.all, Hook{Event: name, Line: line, Command: commandOf(leaf), Group: i, At: j, element: element, leaf: leaf, trail: inside})
			f.checkHandler(leaf)
		}
	}
	return nil
}

// findHandlers returns the handlers of an element. If the client cannot read the element or one of
// its handlers, the result why is the reason; otherwise it is "".
func (r HookRow) findHandlers(element *node) (leaves []*node, why string) {
	if element.kind != objectKind {
		return nil, "is " + element.kind.String() + ", not an object"
	}
	if r.Inner == "" {
		return []*node{element}, ""
	}
	m, twice := element.findMember(r.Inner)
	switch {
	case twice:
		return nil, fmt.Sprintf("has %q twice", r.Inner)
	case m == nil || m.value.kind != listKind:
		return nil, fmt.Sprintf("has no list of %q", r.Inner)
	}
	for _, leaf := range m.value.items {
		if leaf.kind != objectKind {
			why = "holds a handler that is " + leaf.kind.String() + ", not an object"
			continue
		}
		leaves = append(leaves, leaf)
	}
	return leaves, why
}

// checkHandler adds an error to f.broken if the client cannot read the handler.
func (f *hookFile) checkHandler(leaf *node) {
	if m := leaf.ownDuplicate(); m != nil {
		f.addProblem(m.start, nextDuplicate, "the key %q is there twice", m.name)
	}
	for _, m := range leaf.members {
		known := f.hooks.Values[m.name]
		if m.name == "type" {
			known = f.hooks.Types
		}
		if len(known) > 0 && (m.value.kind != stringKind || !slices.Contains(known, m.value.text)) {
			f.addProblem(m.value.start, "write "+quoteText(known[0])+" or take it out", "%s of a hook is %s", quoteText(m.name), f.rawText(m.value))
		}
	}
	if m, _ := leaf.findMember("type"); m == nil && len(f.hooks.Types) > 0 {
		f.addProblem(leaf.start, `write "type": `+quoteText(f.hooks.Types[0]), "a hook has no type")
	}
}

// ReadSettings reads the settings in a file that affect the hooks of a client. The result off is
// the setting that disables all hooks; "" if there is none. The result env has the variables that
// the file sets for the hooks. If the file cannot be read, both are empty.
func ReadSettings(r HookRow, src []byte) (off string, env []Variable) {
	root, err := parseFile(Row{Format: r.Format, Name: r.Name}, src)
	if err != nil || root == nil || root.kind != objectKind {
		return "", nil
	}
	f := &hookFile{file: file{src: src}, hooks: r, root: root}
	if m := root.lastMember(r.Env); r.Env != "" && m != nil {
		for _, v := range m.value.members {
			env = append(env, Variable{v.name, v.value.text})
		}
	}
	return f.findOffSwitch(), env
}

func (f *hookFile) findOffSwitch() string {
	for _, s := range f.hooks.Off {
		at := f.root
		for _, key := range s.Key {
			m := at.lastMember(key)
			if m == nil {
				at = &node{}
				break
			}
			at = m.value
		}
		if at.end > 0 && f.rawText(at) == s.Value {
			return strings.Join(s.Key, ".") + " is " + s.Value
		}
	}
	return ""
}

// collectStrings returns all strings of a value, without keys.
func (n *node) collectStrings() (all []string) {
	if n.kind == stringKind {
		return []string{n.text}
	}
	for _, m := range n.members {
		all = append(all, m.value.collectStrings()...)
	}
	for _, item := range n.items {
		all = append(all, item.collectStrings()...)
	}
	return all
}

// commandOf returns the command of a handler. For a handler without a command, it returns another
// text for people.
func commandOf(leaf *node) string {
	if m, _ := leaf.findMember("action"); m != nil && m.value.kind == objectKind { // the form of Kiro
		leaf = m.value
	}
	for _, key := range []string{"command", "bash", "powershell", "url", "prompt", "server"} {
		if m, _ := leaf.findMember(key); m != nil && m.value.kind == stringKind {
			return m.value.text
		}
	}
	return strings.Join(leaf.collectStrings(), " ")
}

// startsClawai reports whether a handler starts clawai-hook or "clawai hook", at any path.
func startsClawai(leaf *node) bool {
	all := leaf.collectStrings()
	for i, text := range all {
		if isHookLine(text) || baseIs(text, "clawai") && i+1 < len(all) && all[i+1] == "hook" {
			return true
		}
	}
	return false
}

// isHookLine reports whether a command line starts clawai-hook or "clawai hook".
func isHookLine(text string) bool {
	if baseIs(text, "clawai-hook") {
		return true
	}
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "exec "), "& "))
	program, rest, _ := strings.Cut(text, " ")
	if q := strings.TrimLeft(text, `'"`); len(q) < len(text) {
		program, rest, _ = strings.Cut(q, text[:1])
	}
	return baseIs(program, "clawai-hook") || baseIs(program, "clawai") && strings.HasPrefix(strings.TrimSpace(rest), "hook ")
}

// baseIs reports whether the last part of a path is the name, or the name with .exe. Slashes and
// backslashes both separate parts.
func baseIs(path, name string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return base == name || strings.EqualFold(base, name+".exe")
}
