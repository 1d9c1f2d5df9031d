package event

import "encoding/hex"

// lengthOfTraceparent is the length of a trace context: 00-TRACE-SPAN-FLAGS.
const lengthOfTraceparent = 55

// IsTraceparent reports whether a text is a trace context of W3C Trace Context, in the form that has a
// fixed length. In this form the text holds hexadecimal digits and three hyphens, so it can be no other
// text of a stranger.
func IsTraceparent(s string) bool {
	if len(s) != lengthOfTraceparent || s[:2] == "ff" || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	return isHex(s[:2]) && isHex(s[3:35]) && isHex(s[36:52]) && isHex(s[53:]) && !isZero(s[3:35]) && !isZero(s[36:52])
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}

// ReadTraceparent returns the trace, the span and the flags of the trace context. ok is false if the record has
// none.
func (ev *Event) ReadTraceparent() (trace [16]byte, span [8]byte, flags byte, ok bool) {
	if !IsTraceparent(ev.Traceparent) {
		return trace, span, 0, false
	}
	var last [1]byte
	for _, part := range []struct {
		to   []byte
		text string
	}{{trace[:], ev.Traceparent[3:35]}, {span[:], ev.Traceparent[36:52]}, {last[:], ev.Traceparent[53:]}} {
		_, _ = hex.Decode(part.to, []byte(part.text)) // IsTraceparent has checked the digits
	}
	return trace, span, last[0], true
}
