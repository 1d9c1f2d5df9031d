package frame

import (
	"cmp"
	"slices"
	"unsafe"
)

// Edit replaces Part by Token. Part is a slice of the message's own memory, such as a field of a
// Frame.
type Edit struct{ Part, Token []byte }

// SplicePart returns a copy of raw in which the token replaces the part. It changes no other byte.
// The parameter part must be a slice of raw's own memory. Otherwise SplicePart panics, because the
// caller has a bug.
func SplicePart(raw, part, token []byte) []byte { return SpliceAll(raw, Edit{part, token}) }

// SpliceAll makes several edits as SplicePart does. Their parts must not overlap.
func SpliceAll(raw []byte, edits ...Edit) []byte {
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(byteAddress(a.Part), byteAddress(b.Part)) })
	size := len(raw)
	for _, e := range edits {
		size += len(e.Token) - len(e.Part)
	}
	out, from := make([]byte, 0, max(size, 0)), 0
	for _, e := range edits {
		at := byteAddress(e.Part) - byteAddress(raw)
		if len(e.Part) == 0 || at < uintptr(from) || at > uintptr(len(raw)) || len(e.Part) > len(raw)-int(at) {
			panic("frame: the text to replace is not in the message")
		}
		out = append(append(out, raw[from:at]...), e.Token...)
		from = int(at) + len(e.Part)
	}
	return append(out, raw[from:]...)
}

func byteAddress(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
