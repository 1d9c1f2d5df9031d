package sse

import (
	"bytes"
	"strconv"
	"strings"
)

// Event is one block of a stream, with the blank line that ends it. A block without a data line is
// no event for the client. But the client still uses its ID and Retry, and its comments keep a
// connection alive.
type Event struct {
	// Raw holds the received bytes with the line ends. If the previous block ended in CR and its LF
	// came later, this LF is the first byte of Raw, where it has no effect.
	Raw []byte

	Name    string // value of the event field; "" means "message"
	Data    []byte // the data lines, joined by LF; nil if there are none
	HasData bool
	ID      string // value of the id field
	HasID   bool   // there is an id field; an empty one resets the last id
	Retry   int    // retry time in milliseconds; -1 if there is no valid retry field
	Comment bool   // the block has a comment line

	// Plain means that all readers read Raw in the same way. This is so even for readers with other
	// rules than the standard, for example about line ends, fields or a byte order mark. In a plain
	// block each line ends in LF or CRLF, and each line is a comment, a data line, or the only line
	// of its field.
	Plain bool
	seen  string // first letters of the names of the fields so far, except data fields
}

// setField adds one line to the event. line has no line end.
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
		if bytes.IndexByte(value, 0) < 0 { // the standard ignores an id that contains NUL
			e.ID, e.HasID = string(value), true
		}
	case "retry":
		if n, err := strconv.Atoi(string(value)); err == nil && value[0] >= '0' { // only digits are valid, without a sign
			e.Retry = n
		}
	}
}

// checkField sets Plain to false for a field that some readers do not read as the standard
// requires.
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

// AppendBlock appends e as a block with event, id, retry and data. It ignores Raw. No text can
// begin another field: a line break in data starts a new data line, and line breaks in a name or an
// id are removed.
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

// AppendData appends data as data lines, without the blank line that ends an event. Every line
// break that the standard knows starts a new data line, so that data cannot become another field.
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

// oneLine removes the characters that would end a field or make readers ignore it.
var oneLine = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace
