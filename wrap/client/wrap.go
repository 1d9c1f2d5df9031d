package client

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
)

// Wrap puts clawai in front of a server. It moves the bytes of the command into the arguments,
// after "proxy --server NAME --", and writes w.Path in place of the command. If the entry has a
// wrapper that differs from w, Wrap updates the wrapper in place. If w.Server is "", the name of
// the entry is used.
//
// Wrap reads its result and undoes it as a check. It refuses an edit that cannot be undone byte for
// byte. After an error, which is an *EditError, it returns no bytes.
func Wrap(r Row, src []byte, e Entry, w Wrapper) ([]byte, error) {
	f, s, sh, err := openTarget(r, src, e)
	if err != nil {
		return nil, err
	}
	w.Server = cmp.Or(w.Server, s.name)
	if err := f.checkWrapper(s, w); err != nil {
		return nil, err
	}
	v, wrapped := readInvocation(sh.words)
	var edits []edit
	var words []string
	switch {
	case wrapped && sh.mixed != nil:
		return nil, newEditError(src, sh.mixed.at, sh.mixed.next, "%s", sh.mixed.what)
	case wrapped && sh.checkSandbox(f.row, s.name, s.at, v.cage) != nil:
		return nil, f.faultError(sh.checkSandbox(f.row, s.name, s.at, v.cage))
	case wrapped:
		words = proxyWords(w, v.was, sh.carriedWords(v.cage))
		edits, err = f.updateEdits(sh, v, w.Path, words)
		edits = append(edits, sh.switchSandbox(false)...)
	case sh.kind == Remote && sh.remote.redirected != nil:
		return nil, newEditError(src, s.at, "unwrap it first", "the url of %q leads to clawai's proxy already", s.name)
	case sh.kind == Remote:
		after, err := f.wrapRemote(s, e, w)
		if failed, ok := errors.AsType[*EditError](err); ok && PlainName(s.name) && !f.row.fillsText(sh.remote.url.value.text) {
			failed.Next += nextProxy
		}
		return after, err
	default:
		words = proxyWords(w, "", sh.carriedWords(nil))
		edits, err = f.wrapEdits(sh, w.Path, words)
		edits = append(edits, sh.switchSandbox(false)...)
	}
	if err != nil {
		return nil, err
	}
	after := spliceEdits(src, edits)
	want := append([]string{w.Path}, words...)
	if err := f.proveEdit(s, after, proof{remote: sh.remote != nil, prefix: want, undo: !wrapped}); err != nil {
		return nil, err
	}
	return after, nil
}

// wrapRemote turns a bare remote entry into a bridge.
func (f *file) wrapRemote(s slot, e Entry, w Wrapper) ([]byte, error) {
	g, cut, err := f.cutMembers(e)
	if err != nil {
		return nil, err
	}
	_, sh, err := g.findTarget(e)
	if err != nil {
		return nil, err
	}
	words := proxyWords(w, sh.wasWords(cut), nil)
	edits, err := g.bridgeEntry(sh, w.Path, words)
	if err != nil {
		return nil, err
	}
	after := spliceEdits(g.src, edits)
	if err := f.proveEdit(s, after, proof{remote: true, prefix: append([]string{w.Path}, words...), undo: true}); err != nil {
		return nil, err
	}
	return after, nil
}

// checkWrapper returns an error if the path of the wrapper would not be recognised as clawai. It
// also returns an error if the path or the name has a zero byte or a text that the client would
// expand.
func (f *file) checkWrapper(s slot, w Wrapper) error {
	switch {
	case !isClawai(w.Path) || strings.ContainsRune(w.Path, 0) || f.row.expandsText(w.Path):
		return newEditError(f.src, s.at, "install the program as clawai, at a plain path",
			"the command %q would not be known as clawai", w.Path)
	case strings.ContainsRune(w.Server, 0) || f.row.expandsText(w.Server):
		return newEditError(f.src, s.at, "rename the server",
			"the name %q would not reach the rules as it is written", w.Server)
	}
	return nil
}

// wrapEdits returns the edits that add a wrapper to an entry with a process.
func (f *file) wrapEdits(sh shape, path string, words []string) ([]edit, error) {
	quoted := quoteAll(words)
	if f.row.CommandForm == ArrayCommand {
		return []edit{insertWords(f.src, sh.list, append([]string{quoteText(path)}, quoted...))}, nil
	}
	command := sh.words[0]
	if err := f.checkMovable(command, sh.list); err != nil {
		return nil, err
	}
	quoted = append(quoted, f.rawText(command))
	edits := []edit{{command.start, command.end, quoteText(path)}}
	if sh.list != nil {
		return append(edits, insertWords(f.src, sh.list, quoted)), nil
	}
	at, text := f.newArgs(sh.command, f.argsKey(sh))
	if at == command.end { // one edit is necessary, because two edits at the same offset would overlap
		edits[0].text += text + "[" + strings.Join(quoted, compact) + "]"
		return edits, nil
	}
	return append(edits, edit{at, at, text + "[" + strings.Join(quoted, compact) + "]"}), nil
}

func (f *file) argsKey(sh shape) string {
	if f.row.CommandForm == ObjectCommand && sh.command.name == "path" {
		return "args"
	}
	return f.row.argsKey()
}

func quoteAll(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quoteText(word)
	}
	return quoted
}

// checkMovable returns an error for a YAML scalar without quotes that would have another meaning
// inside brackets.
func (f *file) checkMovable(command, list *node) error {
	if !command.plain || list != nil && list.block {
		return nil
	}
	if !strings.ContainsAny(command.text, ",[]{}") && !strings.HasSuffix(command.text, ":") && !strings.HasPrefix(command.text, "-") {
		return nil
	}
	return newEditError(f.src, command.start, "put it in double quotes",
		"the command %q would read otherwise inside a list", command.text)
}

// updateEdits returns the edits that give an existing wrapper a new path and new words, if they
// differ.
func (f *file) updateEdits(sh shape, v invocation, path string, words []string) ([]edit, error) {
	var edits []edit
	if program := sh.words[0]; program.text != path {
		edits = append(edits, edit{program.start, program.end, quoteText(path)})
	}
	older := sh.words[1:v.inner]
	if slices.Equal(nodeTexts(older), words) {
		return edits, nil
	}
	if err := f.checkAdjoining(sh.list, older); err != nil {
		return nil, err
	}
	separator := f.separatorText(older[0], older[1])
	text := strings.Join(quoteAll(words), separator)
	return append(edits, edit{older[0].start, older[len(older)-1].end, text}), nil
}

func (f *file) separatorText(a, b *node) string { return string(f.src[a.end:b.start]) }

// proof describes what proveEdit requires of the edited entry.
type proof struct {
	remote bool
	prefix []string // clawai's words before the words of the server; nil: the entry must be bare
	undo   bool     // the edit must be exactly undoable
}

// proveEdit checks the result of an edit. Every other entry must be unchanged. The edited entry
// must reach the same server and have the words p.prefix. If p.undo is true, the edit must be
// exactly undoable.
func (f *file) proveEdit(s slot, after []byte, p proof) error {
	failed := newEditError(f.src, s.at, "edit the entry by hand", "the entry of %q cannot be edited exactly", s.name)
	g, err := openFile(f.row, after)
	if err != nil || len(g.slots) != len(f.slots) {
		return failed
	}
	for i := range g.slots {
		before, now := readShape(f.row, f.slots[i]), readShape(f.row, g.slots[i])
		if pathKey(f.slots[i].path) != pathKey(g.slots[i].path) || before.kind != now.kind {
			return failed
		}
		if pathKey(f.slots[i].path) == pathKey(s.path) {
			if !p.matchesProof(before, now) {
				return failed
			}
		} else if !slices.Equal(before.meaningWords(), now.meaningWords()) {
			return failed
		}
	}
	if !p.undo {
		return nil
	}
	back, _, err := g.unwrapEntry(Entry{Name: s.name, KeyPath: s.path})
	if err != nil || !bytes.Equal(back, f.src) {
		return failed
	}
	return nil
}

func (p proof) matchesProof(before, now shape) bool {
	old, _ := readInvocation(before.words)
	if p.remote {
		bare := now.remote.original == nil && len(p.prefix) == 0
		behind := now.remote.original != nil && len(now.words) == len(p.prefix)+1 && slices.Equal(nodeTexts(now.words)[:len(p.prefix)], p.prefix)
		whole := now.remote.kept == nil || before.remote.redirected != nil || now.remote.redirected != nil
		return now.problem == nil && whole && (bare || behind) && slices.Equal(before.meaningWords(), now.meaningWords())
	}
	return slices.Equal(nodeTexts(now.words), slices.Concat(p.prefix, nodeTexts(before.words)[old.inner:]))
}
