package client

import (
	"encoding/base64"
	"slices"
	"strings"
)

// An empty member ("oauth": {}) has no effect in a remote entry. But if the entry starts a process,
// some clients reject a file with such a member, so Wrap removes it. The option --was keeps the
// bytes of the empty member, and the name of the member before it. The bytes contain no secret,
// because they are only the name and the empty value.

const cutWord = "cut="

// cutMembers removes the empty members one by one. It returns the new file, and words from which
// restoreMembers can restore the members.
func (f *file) cutMembers(e Entry) (*file, []string, error) {
	var words []string
	for {
		_, sh, err := f.findTarget(e)
		if err != nil {
			return nil, nil, err
		}
		if len(sh.remote.idle) == 0 {
			return f, words, nil
		}
		m := sh.remote.idle[0]
		start, end, before, err := f.cutAt(sh.holder, m)
		if err != nil {
			return nil, nil, err
		}
		code := base64.RawURLEncoding
		words = append(words, cutWord+code.EncodeToString([]byte(before))+"."+code.EncodeToString(f.src[start:end]))
		if f, err = openFile(f.row, spliceEdits(f.src, []edit{{start, end, ""}})); err != nil {
			return nil, nil, err
		}
	}
}

// cutAt returns the range of bytes that must be removed for the member m, and the name of the
// member before it. The range includes the comma before m, or after m if m is the first member.
func (f *file) cutAt(in *node, m *member) (start, end int, before string, err error) {
	failed := newEditError(f.src, m.start, nextTake, "%s cannot be taken out exactly", quoteText(m.name))
	i := slices.IndexFunc(in.members, func(o member) bool { return o.start == m.start })
	stop, known := f.valueEnd(m.value)
	if !known || m.block || i < 0 || len(in.members) < 2 {
		return 0, 0, "", failed
	}
	if i == 0 {
		start, end = m.start, in.members[1].start
		return start, end, "", f.checkSeparator(stop, end, ",")
	}
	if start, known = f.valueEnd(in.members[i-1].value); !known {
		return 0, 0, "", failed
	}
	return start, stop, in.members[i-1].name, f.checkSeparator(start, m.start, ",")
}

// restoreMembers puts the removed members back into src. The entry must be bare again.
func (f *file) restoreMembers(path []string, words []string, src []byte) ([]byte, error) {
	for _, word := range slices.Backward(words) {
		text, found := strings.CutPrefix(word, cutWord)
		if !found {
			continue
		}
		g, err := openFile(f.row, src)
		if err != nil {
			return nil, err
		}
		before, raw, ok := cutParts(text)
		i := slices.IndexFunc(g.slots, func(s slot) bool { return pathKey(s.path) == pathKey(path) })
		if !ok || i < 0 {
			return nil, newEditError(f.src, 0, "edit the entry by hand", "%s cannot be read", wasFlag)
		}
		at, known := 0, false
		if in := readShape(g.row, g.slots[i]).holder; in != nil && len(in.members) > 0 && before == "" {
			at, known = in.members[0].start, true
		} else if m, _ := in.findMember(before); m != nil {
			at, known = g.valueEnd(m.value)
		}
		if !known {
			return nil, newEditError(f.src, 0, "write it there again, or edit the entry by hand", "the member %s is gone, behind which another stood", quoteText(before))
		}
		src = spliceEdits(src, []edit{{at, at, raw}})
	}
	return src, nil
}

func cutParts(text string) (before, raw string, ok bool) {
	a, b, _ := strings.Cut(text, ".")
	x, err := base64.RawURLEncoding.DecodeString(a)
	y, err2 := base64.RawURLEncoding.DecodeString(b)
	return string(x), string(y), err == nil && err2 == nil
}
