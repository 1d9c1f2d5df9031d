package frame

import "unsafe"

// Splice is raw with token in place of part, and every other byte as it was.
// part must be some of raw's own bytes, as the members of a Frame are of its Raw;
// anything else is a defect and panics.
func Splice(raw, part, token []byte) []byte {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(raw)))
	if len(part) == 0 || at > uintptr(len(raw)) || len(part) > len(raw)-int(at) {
		panic("frame: what shall be replaced is not in the message")
	}
	out := make([]byte, 0, len(raw)-len(part)+len(token))
	out = append(out, raw[:at]...)
	out = append(out, token...)
	return append(out, raw[int(at)+len(part):]...)
}
