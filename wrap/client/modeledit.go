package client

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The last part of an address that wrap writes tells how to undo the edit, so unwrap needs no other
// file. It says one of three things: which token was there before; how many objects PutAddress made
// around the address; or that PutAddress made the whole file. The proxy ignores this part.
const (
	undoWas  = "was-"
	undoNew  = "new-"
	undoFile = "file"
)

func encodeToken(token string) string { return base64.RawURLEncoding.EncodeToString([]byte(token)) }

func decodeToken(coded string) (string, bool) {
	token, err := base64.RawURLEncoding.DecodeString(coded)
	return string(token), err == nil && len(token) > 0
}

// undoDepth returns the number of objects that PutAddress made around an address.
func undoDepth(undo string) (n int, ok bool) {
	text, is := strings.CutPrefix(undo, undoNew)
	n, err := strconv.Atoi(text)
	return n, is && err == nil && n >= 0 && n < 8 && strconv.Itoa(n) == text
}

// PutAddress returns the file with our address at the place that the parameter a describes. The
// parameter base is our address without its last part. PutAddress checks that TakeAddress would
// restore the file byte for byte.
func PutAddress(r ModelRow, src []byte, a ModelAddress, base string) ([]byte, error) {
	f, err := openModelFile(r, src)
	if err != nil {
		return nil, err
	}
	if a.Ours != nil { // our address is there already: update it
		token, err := f.findToken(a.KeyPath)
		if err != nil || token == nil {
			return nil, errors.Join(err, errNoAddress)
		}
		return spliceEdits(src, []edit{{token.start, token.end, f.quote(base + "/" + a.Ours.undo)}}), nil
	}
	after, err := f.putAddress(a, base)
	if err != nil {
		return nil, err
	}
	back, err := TakeAddress(r, after, a.KeyPath)
	if err != nil || !bytes.Equal(back, src) || (back == nil) != (src == nil) {
		return nil, fmt.Errorf("an edit of it could not be undone byte for byte; write the address by hand, at %s", strings.Join(a.KeyPath, "."))
	}
	return after, nil
}

// TakeAddress restores the file as it was before PutAddress. It returns nil if PutAddress made the
// file and the file has not changed since.
func TakeAddress(r ModelRow, src []byte, path []string) ([]byte, error) {
	f, err := openModelFile(r, src)
	if err != nil {
		return nil, err
	}
	token, err := f.findToken(path)
	if err != nil {
		return nil, err
	}
	if token == nil {
		return src, nil
	}
	ours := readLedAddress(token.text)
	switch {
	case ours == nil:
		return src, nil
	case ours.was != "":
		after := spliceEdits(src, []edit{{token.start, token.end, ours.was}})
		if g, err := openModelFile(r, after); err != nil || !g.hasToken(path) {
			return nil, fmt.Errorf("what stood there before cannot be read from the address: %s", ours.was)
		}
		return after, nil
	case ours.undo == undoFile:
		if made, err := newModelFile(r, path, token.text); err == nil && bytes.Equal(made, src) {
			return nil, nil
		}
		return f.removeAddress(path, len(path)-1)
	}
	depth, _ := undoDepth(ours.undo)
	return f.removeAddress(path, depth)
}

// modelFile is a file with the addresses at which a client reaches its model.
type modelFile struct {
	row  ModelRow
	src  []byte
	root *node     // nil for a DotEnv file, and if the file does not exist
	vars []*member // the variables in a DotEnv file
}

func openModelFile(r ModelRow, src []byte) (*modelFile, error) {
	f := &modelFile{row: r, src: src}
	if src == nil {
		return f, nil
	}
	var err error
	switch r.Format {
	case DotEnv:
		return f, f.readLines()
	case TOML:
		f.root, err = parseTOML(src)
	default:
		f.root, err = parseJSON(src, r.Format, nil)
		if err == nil && f.root == nil {
			return nil, newEditError(src, len(src), "remove it, or write {} into it", "the file is empty")
		}
	}
	return f, err
}

func (f *modelFile) quote(text string) string {
	if f.row.Format == DotEnv {
		return text
	}
	return quoteText(text)
}

// readLines reads a file with one variable on each line. It refuses a value that continues in the
// next line, because other programs may find variables in that line.
func (f *modelFile) readLines() error {
	for at := bomLength(f.src); at < len(f.src); {
		end := lineEnd(f.src, at)
		line := string(f.src[at:end])
		name, value, is := strings.Cut(line, "=")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(name, " \t"), "export "))
		if trimmed := strings.TrimSpace(value); is && !strings.HasPrefix(name, "#") && trimmed != "" {
			if q := trimmed[0]; strings.IndexByte("\"'`", q) >= 0 && strings.IndexByte(trimmed[1:], q) < 0 {
				return newEditError(f.src, at, "write it on one line", "the value of %s does not end on its line", name)
			}
		}
		if is && !strings.HasPrefix(name, "#") {
			start := at + strings.IndexByte(line, '=') + 1
			text := strings.TrimSpace(value)
			if len(text) > 1 && strings.IndexByte("\"'`", text[0]) >= 0 {
				text, _, _ = strings.Cut(text[1:], text[:1])
			} else {
				text, _, _ = strings.Cut(text, " #")
			}
			f.vars = append(f.vars, &member{name: name, start: at, end: start, value: &node{kind: stringKind, start: start, end: end, text: strings.TrimSpace(text)}})
		}
		at = end + len(lineBreak(f.src, end))
		if end == len(f.src) {
			break
		}
	}
	return nil
}

// listPaths returns the key paths of all addresses in the file.
func (f *modelFile) listPaths() ([][]string, error) {
	r := f.row
	if r.Chooser != "" && f.root != nil {
		if m, twice := f.root.findMember(r.Chooser); m != nil {
			if twice || m.value.kind != stringKind {
				return nil, newEditError(f.src, m.start, nextRepair, "%s is not one text", r.Chooser)
			}
			if name := m.value.text; name != r.Preset {
				path := slices.Clone(r.ChosenPath)
				path[slices.Index(path, "<chosen>")] = name
				if !f.hasToken(path) {
					return nil, newEditError(f.src, m.start, "write its base_url into the file", "the provider %q has no address that clawai can lead elsewhere", name)
				}
				return [][]string{path}, nil
			}
		}
	}
	i := slices.Index(r.KeyPath, "*")
	if i < 0 {
		return [][]string{r.KeyPath}, nil
	}
	var all [][]string
	at := f.root
	for _, key := range r.KeyPath[:i] {
		m, _ := at.findMember(key)
		if m == nil {
			return nil, nil
		}
		at = m.value
	}
	if at == nil {
		return nil, nil
	}
	for _, m := range at.members {
		path := slices.Clone(r.KeyPath)
		if path[i] = m.name; f.hasToken(path) {
			all = append(all, path)
		}
	}
	return all, nil
}

// FindElsewhere tells why a client does not always use the address in its file: a variable in the
// file, or a profile with another provider. It returns "" if there is no such reason.
func FindElsewhere(r ModelRow, src []byte) string {
	f, err := openModelFile(r, src)
	if err != nil {
		return "" // ReadAddresses reports this error
	}
	beside := f.vars
	if f.root != nil && len(r.KeyPath) > 0 {
		at := f.root
		for _, key := range r.KeyPath[:len(r.KeyPath)-1] {
			m, _ := at.findMember(key)
			if m == nil {
				at = &node{}
				break
			}
			at = m.value
		}
		for i := range at.members {
			beside = append(beside, &at.members[i])
		}
	}
	for _, m := range beside {
		if v := m.value.text; slices.Contains(r.Elsewhere, m.name) && v != "" && v != "0" && v != "false" {
			return m.name + " is set there, so the client uses a service that clawai llm-proxy does not stand before; take it out if you do not need it"
		}
	}
	return f.findProfileElsewhere()
}

// findProfileElsewhere returns the profile in the file whose provider has its own address; "" if
// there is none.
func (f *modelFile) findProfileElsewhere() string {
	r := f.row
	profiles, _ := f.root.findMember("profiles")
	if r.Chooser == "" || profiles == nil {
		return ""
	}
	chosen := r.Preset
	if m, _ := f.root.findMember(r.Chooser); m != nil {
		chosen = m.value.text
	}
	for _, profile := range profiles.value.members {
		m, _ := profile.value.findMember(r.Chooser)
		if m == nil || m.value.text == chosen {
			continue
		}
		path := slices.Clone(r.ChosenPath)
		path[slices.Index(path, "<chosen>")] = m.value.text
		if m.value.text == r.Preset || f.hasToken(path) {
			return fmt.Sprintf("the profile %q uses the provider %q, whose requests would not come to clawai llm-proxy; take %s out of the profile, or lead that provider alone: write %s at the top of the file", profile.name, m.value.text, r.Chooser, r.Chooser+" = "+quoteText(m.value.text))
		}
	}
	return ""
}

func (f *modelFile) hasToken(path []string) bool {
	token, err := f.findToken(path)
	return err == nil && token != nil
}

// findToken returns the text at a key path; nil if there is none. It returns an error if two
// programs could read a key of the path differently.
func (f *modelFile) findToken(path []string) (*node, error) {
	at := f.root
	if f.row.Format == DotEnv {
		at = &node{kind: objectKind}
		for _, m := range f.vars {
			at.members = append(at.members, *m)
		}
	}
	if at == nil {
		return nil, nil
	}
	for i, key := range path {
		if at.kind != objectKind {
			return nil, newEditError(f.src, at.start, nextRepair, "there is %s where an object should be", at.kind)
		}
		m, twice := at.findMember(key)
		switch {
		case twice:
			return nil, newEditError(f.src, at.lastMember(key).start, nextDuplicate, "the key %q is there twice", key)
		case m == nil:
			return nil, nil
		case m.escaped:
			return nil, newEditError(f.src, m.start, "write it plainly", "the key %q is written with escapes", key)
		case i == len(path)-1 && m.value.kind != stringKind:
			return nil, newEditError(f.src, m.value.start, "write the address in quotes, or remove the line", "there is %s where an address should be", m.value.kind)
		case i == len(path)-1:
			return m.value, nil
		}
		at = m.value
	}
	return nil, nil
}

// tokenText decodes a token of the file.
func tokenText(r ModelRow, token string) string {
	var src []byte
	path := []string{"a"}
	switch r.Format {
	case DotEnv:
		src = []byte("a=" + token)
	case TOML:
		src = []byte("a = " + token)
	default:
		src = []byte(`{"a":` + token + `}`)
	}
	f, err := openModelFile(r, src)
	if err != nil {
		return ""
	}
	v, err := f.findToken(path)
	if err != nil || v == nil {
		return ""
	}
	return v.text
}

func (f *modelFile) putAddress(a ModelAddress, base string) ([]byte, error) {
	token, err := f.findToken(a.KeyPath)
	switch {
	case err != nil:
		return nil, err
	case token != nil:
		was := string(f.src[token.start:token.end])
		return spliceEdits(f.src, []edit{{token.start, token.end, f.quote(base + "/" + undoWas + encodeToken(was))}}), nil
	case f.src == nil:
		return newModelFile(f.row, a.KeyPath, base+"/"+undoFile)
	}
	switch f.row.Format {
	case DotEnv:
		before, depth := "", 0
		if n := len(f.src); n > bomLength(f.src) && f.src[n-1] != '\n' {
			before, depth = lineBreak(f.src, len(f.src)), 1
		}
		line := fmt.Sprintf("%s%s=%s/%s%d%s", before, a.KeyPath[0], base, undoNew, depth, lineBreak(f.src, len(f.src)))
		return append(slices.Clip(f.src), line...), nil
	case TOML:
		if len(a.KeyPath) != 1 {
			return nil, errNoAddress
		}
		at := bomLength(f.src)
		line := tomlKey(a.KeyPath[0]) + " = " + quoteText(base+"/"+undoNew+"0") + lineBreak(f.src, len(f.src))
		return spliceEdits(f.src, []edit{{at, at, line}}), nil
	}
	return f.putMember(a.KeyPath, base)
}

// putMember adds a member to a JSON file. It also adds the missing objects around the member.
func (f *modelFile) putMember(path []string, base string) ([]byte, error) {
	at := f.root
	for i, key := range path {
		m, _ := at.findMember(key)
		if m != nil {
			at = m.value
			continue
		}
		depth := len(path) - i - 1
		text := quoteText(base + "/" + undoNew + strconv.Itoa(depth))
		for j := len(path) - 1; j >= i; j-- {
			if text = quoteText(path[j]) + ": " + text; j > i {
				text = "{" + text + "}"
			}
		}
		h := hookFile{file: file{src: f.src}}
		return h.appendChild(at, text), nil
	}
	return nil, errNoAddress
}

// newModelFile returns the text of a new file.
func newModelFile(r ModelRow, path []string, address string) ([]byte, error) {
	switch r.Format {
	case DotEnv:
		return []byte(path[0] + "=" + address + "\n"), nil
	case TOML:
		if len(path) != 1 {
			return nil, errNoAddress
		}
		return []byte(tomlKey(path[0]) + " = " + quoteText(address) + "\n"), nil
	}
	var b strings.Builder
	for i, key := range path {
		fmt.Fprintf(&b, "{\n%s%s: ", strings.Repeat("  ", i+1), quoteText(key))
	}
	b.WriteString(quoteText(address))
	for i := len(path) - 1; i >= 0; i-- {
		b.WriteString("\n" + strings.Repeat("  ", i) + "}")
	}
	return []byte(b.String() + "\n"), nil
}

// removeAddress removes what PutAddress has added: the address, and those objects around it that
// PutAddress made and that have no other member.
func (f *modelFile) removeAddress(path []string, depth int) ([]byte, error) {
	switch f.row.Format {
	case DotEnv:
		i := slices.IndexFunc(f.vars, func(m *member) bool { return m.name == path[0] })
		return f.removeLine(f.vars[i].start, depth == 1), nil
	case TOML:
		m, _ := f.root.findMember(path[0])
		if !m.block {
			return nil, errNoAddress
		}
		return f.removeLine(m.start, false), nil
	}
	holders := []*node{f.root}
	for _, key := range path[:len(path)-1] {
		m, _ := holders[len(holders)-1].findMember(key)
		holders = append(holders, m.value)
	}
	at := len(path) - 1
	for ; depth > 0 && at > 0 && len(holders[at].members) == 1; at-- {
		depth--
	}
	return f.cutMember(holders[at], path[at])
}

// removeLine removes a line. If the second parameter is true, and the line is the last one of the
// file, removeLine also removes the line end before the line.
func (f *modelFile) removeLine(at int, also bool) []byte {
	start, end := lineStart(f.src, at), lineEnd(f.src, at)
	if end < len(f.src) {
		end += len(lineBreak(f.src, end))
	}
	if also && start > 0 && end == len(f.src) {
		if start--; start > 0 && f.src[start-1] == '\r' {
			start--
		}
	}
	return append(slices.Clone(f.src[:start]), f.src[end:]...)
}

// cutMember removes a member and the comma before or after it.
func (f *modelFile) cutMember(in *node, key string) ([]byte, error) {
	i := slices.IndexFunc(in.members, func(m member) bool { return m.name == key })
	start, end := in.members[i].start, in.members[i].value.end
	comma := func(from, to int) bool { return strings.TrimSpace(string(f.src[from:to])) == "," }
	switch {
	case len(in.members) == 1:
		if start == in.start+2 && f.src[in.start+1] == ' ' { // the blank shows that the object was there before, so remove only the blank and the member
			start--
		}
	case i > 0 && comma(in.members[i-1].value.end, start):
		start = in.members[i-1].value.end
	case i == 0 && comma(end, in.members[1].start):
		end = in.members[1].start
	default:
		return nil, newEditError(f.src, start, "remove the line by hand", "a comment stands beside the address")
	}
	return append(slices.Clone(f.src[:start]), f.src[end:]...), nil
}

// MaskModelFile returns a file in a form that may be shown: only addresses are visible, without the
// secrets in them.
func MaskModelFile(r ModelRow, src []byte) []byte {
	f, err := openModelFile(r, src)
	if err != nil {
		return src
	}
	var edits []edit
	paths, _ := f.listPaths() // the error is ignored, because without paths all texts are hidden
	shown := map[int]bool{}
	for _, path := range paths {
		token, err := f.findToken(path)
		if err != nil || token == nil {
			continue
		}
		switch ours := readLedAddress(token.text); {
		case ours != nil:
			address, _, _ := strings.Cut(token.text, "/"+ledWord)
			edits = append(edits, edit{token.start, token.end, f.quote(address + "/" + ledWord + "/" + hiddenText + "/" + r.Client)})
			shown[token.start] = true
		case !strings.ContainsAny(token.text, "?@"):
			shown[token.start] = true
		}
	}
	var cover func(n *node)
	cover = func(n *node) {
		if n == nil {
			return
		}
		if n.kind == stringKind && !shown[n.start] && n.end > n.start {
			edits = append(edits, edit{n.start, n.end, f.quote(hiddenText) + strings.Repeat("\n", bytes.Count(src[n.start:n.end], []byte("\n")))})
		}
		for i := range n.members {
			cover(n.members[i].value)
		}
		for _, item := range n.items {
			cover(item)
		}
	}
	cover(f.root)
	for _, m := range f.vars {
		cover(m.value)
	}
	return spliceEdits(src, edits)
}
