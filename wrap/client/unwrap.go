package client

import (
	"bytes"
	"slices"
	"strings"
)

// Unwrap removes clawai from an entry. If the file has not changed since Wrap, Unwrap restores the
// file byte for byte; otherwise the rest of the file stays as it is. If the entry is not wrapped,
// Unwrap returns the file unchanged. After an error, which is an *EditError, it returns no bytes.
func Unwrap(r Row, src []byte, e Entry) ([]byte, error) {
	f, s, sh, err := openTarget(r, src, e)
	if err != nil {
		return nil, err
	}
	after, wrapped, err := f.removeWrapper(s, sh)
	if err != nil {
		return nil, err
	}
	if !wrapped {
		return slices.Clone(src), nil
	}
	if err := f.proveEdit(s, after, proof{remote: sh.remote != nil}); err != nil {
		return nil, err
	}
	return after, nil
}

// isAddress reports whether clawai proxy takes a word for the address of a remote server.
func isAddress(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "env:")
}

// unwrapEntry is Unwrap without the check of the result. wrapped is false if the entry is not wrapped.
func (f *file) unwrapEntry(e Entry) (after []byte, wrapped bool, err error) {
	s, sh, err := f.findTarget(e)
	if err != nil {
		return nil, false, err
	}
	return f.removeWrapper(s, sh)
}

// removeWrapper returns the file without the wrapper of one entry, if it has one.
func (f *file) removeWrapper(s slot, sh shape) (after []byte, wrapped bool, err error) {
	if sh.remote != nil && sh.remote.redirected != nil {
		return f.originalURL(sh), true, nil
	}
	v, wrapped := readInvocation(sh.words)
	if !wrapped {
		return f.src, false, nil
	}
	after, err = f.removeInvocation(s, sh, v)
	return after, true, err
}

func (f *file) removeInvocation(s slot, sh shape, v invocation) ([]byte, error) {
	if sh.remote != nil {
		edits, err := f.unbridgeEntry(sh)
		if err != nil {
			return nil, err
		}
		return f.restoreMembers(s.path, sh.remote.original, spliceEdits(f.src, edits))
	}
	if inner := sh.words[v.inner]; v.inner == len(sh.words)-1 && isAddress(inner.text) {
		return nil, newEditError(f.src, inner.start, "write the entry as its client's documentation shows",
			"clawai did not put this address there, and does not know what stood in its place")
	}
	var restored []edit
	if len(v.cage) > 0 {
		restored = sh.switchSandbox(true)
	}
	if f.row.CommandForm == ArrayCommand {
		edits, err := f.removeWords(sh.list, nil, v.inner)
		return spliceEdits(f.src, append(edits, restored...)), err
	}
	program, inner := sh.words[0], sh.words[v.inner]
	text := f.rawText(inner)
	if at, ok := f.findOwnArgs(sh, v); ok {
		if at == program.end {
			return spliceEdits(f.src, append(restored, edit{program.start, sh.list.end, text})), nil
		}
		return spliceEdits(f.src, append(restored, edit{program.start, program.end, text}, edit{at, sh.list.end, ""})), nil
	}
	edits, err := f.removeWords(sh.list, sh.args, v.inner)
	return spliceEdits(f.src, append(append(edits, restored...), edit{program.start, program.end, text})), err
}

// findOwnArgs reports whether Wrap created the list of arguments. It returns true if the list has
// the place and the form that Wrap uses, and contains only words that Wrap writes. The result at is
// the offset of the member.
func (f *file) findOwnArgs(sh shape, v invocation) (at int, ok bool) {
	if v.inner != len(sh.words)-1 || sh.list.block {
		return 0, false
	}
	at, text := f.newArgs(sh.command, f.argsKey(sh))
	if !bytes.HasPrefix(f.src[at:], []byte(text)) {
		return 0, false
	}
	var words []string
	for _, item := range sh.list.items {
		words = append(words, f.rawText(item))
	}
	return at, "["+strings.Join(words, compact)+"]" == string(f.src[sh.list.start:sh.list.end])
}

// removeWords returns the edits that remove words from the start of a list. The parameter count is
// the number of words. The parameter key is the member with the list; nil if unknown.
func (f *file) removeWords(list *node, key *member, count int) ([]edit, error) {
	gone := list.items[:count]
	if err := f.checkAdjoining(list, gone); err != nil {
		return nil, err
	}
	if list.block {
		return f.removeLines(list, key, count)
	}
	start, end := gone[0].start, gone[count-1].end
	asWritten := start == list.start+1
	for i := range gone[1:] {
		asWritten = asWritten && f.separatorText(gone[i], gone[i+1]) == spaced
	}
	next := f.skipBlank(end)
	comma := f.src[next] == ','
	switch {
	case len(list.items) > count && !comma:
		return nil, f.commentError(gone[count-1])
	case len(list.items) > count && asWritten:
		end = next + 1
		if f.src[end] == ' ' {
			end++
		}
	case comma:
		end = f.skipBlank(next + 1)
	case !asWritten && f.isBlank(list.start+1, start) && f.src[next] == ']':
		start, end = list.start+1, next
	}
	return []edit{{start, end, ""}}, nil
}

// removeLines does the work of removeWords for a list in YAML's block style: it removes whole
// lines.
func (f *file) removeLines(list *node, key *member, count int) ([]edit, error) {
	start := lineStart(f.src, list.items[0].lead)
	end := lineEnd(f.src, list.items[count-1].end)
	if !f.isBlank(list.items[count-1].end, end) {
		return nil, f.commentError(list.items[count-1])
	}
	if len(list.items) > count {
		end += len(lineBreak(f.src, end))
		return []edit{{start, end, ""}}, nil
	}
	if key == nil {
		return nil, f.commentError(list.items[0])
	}
	colon := key.end + bytes.IndexByte(f.src[key.end:], ':') + 1
	start -= len(lineBreak(f.src, lineEnd(f.src, colon)))
	return []edit{{colon, colon, " []"}, {start, end, ""}}, nil
}

// checkAdjoining returns an error if there is text other than separators between the words.
func (f *file) checkAdjoining(list *node, words []*node) error {
	for i := range words[1:] {
		between := f.src[words[i].end:words[i+1].start]
		mark := byte(',')
		if list.block {
			mark = '-'
		}
		comma := bytes.IndexByte(between, mark)
		if comma < 0 || len(bytes.TrimSpace(between[:comma])) > 0 || len(bytes.TrimSpace(between[comma+1:])) > 0 {
			return f.commentError(words[i])
		}
	}
	return nil
}

func (f *file) commentError(after *node) *EditError {
	return newEditError(f.src, after.end, "move it, then run the command again", "there is something among the words of clawai")
}

func (f *file) skipBlank(at int) int {
	for at < len(f.src) && bytes.IndexByte([]byte(" \t\r\n"), f.src[at]) >= 0 {
		at++
	}
	return at
}
