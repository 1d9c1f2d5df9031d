package sse

import (
	"bytes"
	"strconv"
	"strings"
)

// Event is one block of a stream, up to and including the blank line that ends
// it. A block without a data line dispatches nothing, but its ID and Retry
// count, and its comments keep a connection alive.
type Event struct {
	// Raw is what was received, line ends included. One that arrived after a CR had
	// ended the block before stands at its beginning, where an LF means nothing.
	Raw []byte

	Name    string // of the event field; "" stands for "message"
	Data    []byte // the data lines, joined by LF; nil when there is none
	HasData bool
	ID      string // of the id field
	HasID   bool   // an empty id field resets the last id
	Retry   int    // milliseconds; -1 when there is no valid retry field
	Comment bool   // there is a comment line

	// Plain says that all readers take Raw alike, also those that look for line
	// ends, fields or a byte order mark where the standard knows none: lines end
	// in LF or CRLF, and each is a comment, data, or the only one of its field.
	Plain bool
	seen  string // the first letters of the fields there were, data apart
}

// setField takes in one line without its line end.
func (e *Event) setField(line []byte) {
	name, value, colon := bytes.Cut(line, []byte{':'})
	if colon && len(name) == 0 {
		e.Comment = true
		return
	}
	value = bytes.TrimPrefix(value, []byte{' '})
	e.checkField(string(name), value)
	switch string(name) {
	case "event":
		e.Name = string(value)
	case "data":
		if e.HasData {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		e.HasData = true
	case "id":
		if bytes.IndexByte(value, 0) < 0 { // the standard: an id with NUL is ignored
			e.ID, e.HasID = string(value), true
		}
	case "retry":
		if n, ok := parseDigits(value); ok {
			e.Retry = n
		}
	}
}

// checkField notes a field that a reader may take otherwise than the standard.
func (e *Event) checkField(name string, value []byte) {
	switch name {
	case "data":
	case "event", "id", "retry":
		if strings.Contains(e.seen, name[:1]) {
			e.Plain = false
		}
		e.seen += name[:1]
	default:
		e.Plain = false
	}
	if bytes.IndexByte(value, 0) >= 0 {
		e.Plain = false
	}
}

func parseDigits(value []byte) (n int, ok bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(string(value))
	return n, err == nil
}

// AppendBlock writes e as a block: event, id, retry and data, whatever Raw holds. Text
// that could begin another field is split into lines of its own field, or, in a
// name or an id, where a line break cannot stand, left out.
func (e *Event) AppendBlock(to []byte) []byte {
	if name := oneLine(e.Name); name != "" {
		to = append(append(append(to, "event: "...), name...), '\n')
	}
	if e.HasID {
		to = append(append(append(to, "id: "...), oneLine(e.ID)...), '\n')
	}
	if e.Retry >= 0 {
		to = append(strconv.AppendInt(append(to, "retry: "...), int64(e.Retry), 10), '\n')
	}
	if e.HasData {
		to = AppendData(to, e.Data)
	}
	return append(to, '\n')
}

// AppendData writes data as data lines, without the blank line that ends an
// event. Every line break the standard knows starts a new line, so that data
// cannot become a field.
func AppendData(to, data []byte) []byte {
	for {
		i := bytes.IndexAny(data, "\r\n")
		line := data
		if i >= 0 {
			line = data[:i]
		}
		to = append(append(append(to, "data: "...), line...), '\n')
		if i < 0 {
			return to
		}
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}

func oneLine(s string) string {
	keep := func(r byte) bool { return r != '\r' && r != '\n' && r != 0 }
	for i := range len(s) {
		if !keep(s[i]) {
			b := make([]byte, 0, len(s))
			for j := range len(s) {
				if keep(s[j]) {
					b = append(b, s[j])
				}
			}
			return string(b)
		}
	}
	return s
}
