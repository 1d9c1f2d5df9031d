package client

import (
	"cmp"
	"fmt"
	"strings"
)

// extra is a member that wrap adds. raw is its value in the notation of the file.
type extra struct{ name, raw string }

// bridgeEntry returns the edits that turn a bare remote entry into a bridge.
func (f *file) bridgeEntry(sh shape, path string, words []string) ([]edit, error) {
	r := sh.remote
	address := f.rawText(r.url.value)
	if err := f.checkMovable(r.url.value, nil); err != nil {
		return nil, err
	}
	var extras []extra
	if f.row.HidesAddress(r.url.value.text) {
		extras = append(extras, extra{urlVariable, address})
		address = quoteText(urlReference)
	}
	if r.bearer != nil {
		extras = append(extras, extra{bearerVariable, quoteText(bearerLine(r.bearer.value.text))})
	}
	edits := f.headerEdits(r)
	added, passed := "", f.renderPassEnv(r)
	if r.bearer != nil {
		edits = append(edits, f.renameKey(r.bearer, f.row.PassEnvField)...)
		edits = append(edits, edit{r.bearer.value.start, r.bearer.value.end, passed})
	} else if passed != "" {
		_, text := f.newArgs(r.url, f.row.PassEnvField)
		added += text + passed
	}
	if host := cmp.Or(r.holder, r.env); len(extras) > 0 && host != nil {
		more, err := f.addExtras(host, extras)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more)
	} else if len(extras) > 0 {
		_, text := f.newArgs(r.url, f.row.envKey())
		added += text + f.objectText(extras)
	}
	if sh.typ != nil {
		edits = append(edits, edit{sh.typ.value.start, sh.typ.value.end, f.requoteWord(f.rawText(sh.typ.value), f.row.stdioType())})
	}
	edits = append(edits, f.renameKey(r.url, f.row.commandKey())...)
	return append(edits, f.launchEdits(r.url, path, append(quoteAll(words), address), added)...), nil
}

// launchEdits replaces the value of the url (m) by the command. It adds the arguments and the other
// new members (added) after the command.
func (f *file) launchEdits(m *member, path string, words []string, added string) []edit {
	value := quoteText(path)
	at, text := f.newArgs(m, f.row.argsKey())
	if f.row.CommandForm == ArrayCommand {
		value, text = "["+strings.Join(append([]string{value}, words...), compact)+"]", ""
	} else {
		text += "[" + strings.Join(words, compact) + "]"
	}
	if text += added; at == m.value.end {
		return []edit{{m.value.start, m.value.end, value + text}}
	}
	return []edit{{m.value.start, m.value.end, value}, {at, at, text}}
}

// renderPassEnv returns, in the notation of the file, the list of variables that the client must
// pass to the process; "" if no list is needed.
func (f *file) renderPassEnv(r *remote) string {
	var raws []string
	if f.row.PassEnvField == "" {
		return ""
	}
	if r.bearer != nil {
		raws = append(raws, f.rawText(r.bearer.value))
	}
	for _, h := range r.headers {
		if r.envHeaders {
			raws = append(raws, quoteText(h.member.value.text))
		}
	}
	if len(raws) == 0 {
		return ""
	}
	return "[" + strings.Join(raws, compact) + "]"
}

// headerEdits turns the headers into the environment. If the entry already has an environment, that
// environment gets the key of the headers. Unwrap later exchanges the two keys again.
func (f *file) headerEdits(r *remote) []edit {
	if r.holder == nil {
		return nil
	}
	edits := f.renameKey(r.holder, f.row.envKey())
	if r.env != nil {
		edits = append(edits, f.renameKey(r.env, r.holder.name)...)
	}
	for i, h := range r.headers {
		key, end := fmt.Sprint(headerVariable, i+1), ""
		if r.envHeaders {
			key, end = fmt.Sprint(headerEnvVariable, i+1), "}"
		}
		v := h.member.value
		raw := f.rawText(v)
		n := f.openingLength(raw, v.plain)
		edits = append(edits, edit{h.member.last, h.member.end, f.requoteWord(string(f.src[h.member.last:h.member.end]), key)})
		edits = append(edits, edit{v.start + n, v.start + n, headerLead(h.name, v.plain, r.envHeaders)})
		if end != "" {
			at := v.end - min(n, 3)
			edits = append(edits, edit{at, at, end})
		}
	}
	return edits
}

// openingLength returns the number of bytes before the content of a string: its quotes, and after
// three quotes also the first line end, which TOML ignores.
func (f *file) openingLength(raw string, plain bool) int {
	switch {
	case plain:
		return 0
	case f.row.Format == TOML && len(raw) > 5 && (raw[:3] == `"""` || raw[:3] == "'''"):
		if strings.HasPrefix(raw[3:], "\r\n") {
			return 5
		}
		if raw[3] == '\n' {
			return 4
		}
		return 3
	}
	return 1
}

// renameKey changes a key at every place where the file contains it.
func (f *file) renameKey(m *member, name string) []edit {
	edits := []edit{{m.last, m.end, f.requoteWord(string(f.src[m.last:m.end]), name)}}
	for _, place := range m.again {
		edits = append(edits, edit{place.start, place.end, f.requoteWord(string(f.src[place.start:place.end]), name)})
	}
	return edits
}

// requoteWord returns a word in the same kind of quotes as the token raw.
func (f *file) requoteWord(raw, word string) string {
	bare := tomlKey(word) == word && (f.row.Format != JSON5 || !strings.Contains(word, "-") && !isDigit(word[0]))
	switch {
	case strings.HasPrefix(raw, "'"):
		return "'" + word + "'"
	case strings.HasPrefix(raw, `"`) || !bare:
		return quoteText(word)
	}
	return word
}

// objectText returns the text of an object with the extras as members, in the notation of the file.
func (f *file) objectText(extras []extra) string {
	var parts []string
	for _, x := range extras {
		parts = append(parts, f.pairText(x))
	}
	return "{" + strings.Join(parts, compact) + "}"
}

func (f *file) pairText(x extra) string {
	switch f.row.Format {
	case TOML:
		return x.name + "=" + x.raw
	case YAML:
		return x.name + ": " + x.raw
	default:
		return quoteText(x.name) + ":" + x.raw
	}
}

// addExtras returns the edit that puts members before the first member of an existing object.
func (f *file) addExtras(host *member, extras []extra) (edit, error) {
	n := host.value
	if n.kind != objectKind {
		return edit{}, newEditError(f.src, n.start, nextTake, "the %s is %s", host.name, n.kind)
	}
	if len(n.members) == 0 {
		if f.row.Format == TOML && f.src[n.start] != '{' {
			return edit{}, newEditError(f.src, n.start, "take the empty table out", "the %s has no place for the address", host.name)
		}
		text := f.objectText(extras)
		return edit{n.start + 1, n.start + 1, text[1 : len(text)-1]}, nil
	}
	first := n.members[0]
	if first.last != first.start {
		return edit{}, newEditError(f.src, first.start, "write it as a table", "%s is written in dotted keys", host.name)
	}
	between := spaced
	if first.block {
		between = lineBreak(f.src, lineEnd(f.src, first.start)) + lineIndent(f.src, first.start)
	}
	text := ""
	for _, x := range extras {
		pair := f.pairText(x)
		if f.row.Format == TOML && first.block {
			pair = x.name + " = " + x.raw
		}
		text += pair + between
	}
	return edit{first.start, first.start, text}, nil
}
