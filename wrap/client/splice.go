package client

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// edit replaces a range of bytes by a text. The range begins at the offset start, and its last byte
// is before the offset end.
type edit struct {
	start, end int
	text       string
}

// spliceEdits applies edits. They must not overlap. If an insertion and a replacement have the same
// start, the insertion comes first.
func spliceEdits(src []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	size := len(src)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, src[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, src[at:]...)
}

// rawText returns the text of a node in the notation of the file.
func (f *file) rawText(n *node) string { return string(f.src[n.start:n.end]) }

// Separators for inserted words. A list that Wrap creates has no blanks inside, so that Unwrap can
// distinguish it from an empty list that was there before.
const (
	spaced  = ", "
	compact = ","
)

// insertWords returns the edit that puts words at the start of a list. The words are in the
// notation of the file. In YAML's block style each word gets its own line, with the indentation of
// the first item.
func insertWords(src []byte, list *node, words []string) edit {
	if list.block {
		lead := list.items[0].lead
		between := lineBreak(src, lineEnd(src, lead)) + lineIndent(src, lead) + "- "
		return edit{lead, lead, "- " + strings.Join(words, between) + strings.TrimSuffix(between, "- ")}
	}
	text := strings.Join(words, spaced)
	if len(list.items) > 0 {
		text += spaced
	}
	return edit{list.start + 1, list.start + 1, text}
}

// lineIndent returns the text between the start of the line and an offset.
func lineIndent(src []byte, at int) string { return string(src[lineStart(src, at):at]) }

// newArgs returns where to insert a missing member with this key, and its text up to the value. The
// place is directly after the command; in YAML's block style and in a TOML table it is on the next
// line.
func (f *file) newArgs(command *member, key string) (at int, text string) {
	switch {
	case f.row.Format == TOML && command.block:
		at = lineEnd(f.src, command.value.end)
		prefix := string(f.src[lineStart(f.src, command.start):command.last])
		return at, lineBreak(f.src, at) + prefix + tomlKey(key) + " = "
	case f.row.Format == TOML:
		prefix := string(f.src[command.start:command.last])
		return command.value.end, "," + prefix + tomlKey(key) + "="
	case f.row.Format == YAML && command.block:
		at = lineEnd(f.src, command.value.end)
		blank := strings.Repeat(" ", command.start-lineStart(f.src, command.start))
		return at, lineBreak(f.src, at) + blank + key + ": "
	case f.row.Format == YAML:
		return command.value.end, "," + key + ": "
	default:
		return command.value.end, "," + quoteText(key) + ":"
	}
}

// tomlKey returns a key in TOML, in quotes only if necessary.
func tomlKey(key string) string {
	bare := key != "" && strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	if bare {
		return key
	}
	return quoteText(key)
}

// isBlank reports whether there is only white space between two offsets.
func (f *file) isBlank(from, to int) bool {
	return len(bytes.TrimSpace(f.src[from:to])) == 0
}
