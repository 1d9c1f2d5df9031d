package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/reading"
)

// trie maps literal texts to lists of numbers (rules or buckets). A trie reads its texts either
// from the start or from the end. It ignores ASCII case.
type trie struct {
	root     node
	backward bool
}

type node struct {
	label string // the bytes between the parent and this node, in lower case
	heads string // the first byte of each child's label
	kids  []*node
	ids   []int32 // in ascending order
}

func (t *trie) foldKey(s string) string {
	if !t.backward && !strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return s
	}
	b := make([]byte, len(s))
	for i := range b {
		if t.backward {
			b[i] = reading.LowerByte(s[len(s)-1-i])
		} else {
			b[i] = reading.LowerByte(s[i])
		}
	}
	return string(b)
}

// add adds a number under a literal. Numbers must come in ascending order.
func (t *trie) add(literal string, id int32) {
	n, key := &t.root, t.foldKey(literal)
	for key != "" {
		i := strings.IndexByte(n.heads, key[0])
		if i < 0 {
			kid := &node{label: key}
			n.heads, n.kids = n.heads+key[:1], append(n.kids, kid)
			n = kid
			break
		}
		kid := n.kids[i]
		common := commonPrefix(kid.label, key)
		if common < len(kid.label) {
			upper := &node{label: kid.label[:common], heads: kid.label[common : common+1], kids: []*node{kid}}
			kid.label = kid.label[common:]
			n.kids[i] = upper
			kid = upper
		}
		n, key = kid, key[common:]
	}
	n.ids = appendID(n.ids, id)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// appendID appends to an ascending list and skips a repeated number.
func appendID(ids []int32, id int32) []int32 {
	if n := len(ids); n > 0 && ids[n-1] == id {
		return ids
	}
	return append(ids, id)
}

// collectLists appends the list of every literal that is a prefix (or suffix) of s.
func (t *trie) collectLists(s string, lists [][]int32) [][]int32 {
	n, at := &t.root, 0
	for {
		if len(n.ids) > 0 {
			lists = append(lists, n.ids)
		}
		if n.heads == "" || at == len(s) {
			return lists
		}
		i, head := 0, t.byteAt(s, at)
		if n.heads[0] != head { // a fast path, because most nodes have only one child
			if i = strings.IndexByte(n.heads, head); i < 0 {
				return lists
			}
		}
		n = n.kids[i]
		if !t.matchesLabel(s, at, n.label) {
			return lists
		}
		at += len(n.label)
	}
}

// matchesLabel reports whether s has the label at the given offset. The offset is counted from the
// end of s at which the trie starts.
func (t *trie) matchesLabel(s string, at int, label string) bool {
	if len(s)-at < len(label) {
		return false
	}
	if !t.backward && s[at:at+len(label)] == label {
		return true
	}
	for j := range len(label) {
		if t.byteAt(s, at+j) != label[j] {
			return false
		}
	}
	return true
}

func (t *trie) byteAt(s string, i int) byte {
	if t.backward {
		i = len(s) - 1 - i
	}
	return reading.LowerByte(s[i])
}
