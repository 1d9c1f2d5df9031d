package export

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/term"
)

// maxMessage is the size of the longest event in CEF and syslog, in bytes. rsyslog with default
// settings cuts a message if the message and its frame are longer than 8 KiB.
const maxMessage = 7680

// room limits the length of values, in bytes. The field long is the limit for columns that may be
// long (column.long); the field value is the limit for all other columns.
type room struct{ value, long int }

// rooms are tried in this order until the event is short enough.
var rooms = []room{{1024, 4096}, {256, 2048}, {80, 256}, {40, 80}}

// appendFitting appends the output of the given function. It tries the rooms until the output is at
// most maxMessage long.
func appendFitting(dst []byte, write func(dst []byte, r room) []byte) []byte {
	start := len(dst)
	for _, r := range rooms {
		if dst = write(dst[:start], r); len(dst)-start <= maxMessage {
			break
		}
	}
	return dst
}

// fitText returns a text as clawai shows it, cut to the length that r allows. A cut text ends with
// the length of the whole text.
func (r room) fitText(s string, long bool) string {
	most := r.value
	if long {
		most = r.long
	}
	s = term.VisibleText(s)
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "[cut:" + strconv.Itoa(len(s)) + "]"
}

var (
	cefHeader = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\n", " ", "\r", " ")
	cefValue  = strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\n", `\n`, "\r", `\r`)
	sdValue   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `]`, `\]`, "\n", " ", "\r", " ")
)

// AppendCEF appends an event in ArcSight's Common Event Format, version 0. The header contains only
// our own words.
func AppendCEF(dst []byte, e *event.Entry, s Source) []byte {
	return appendFitting(dst, func(dst []byte, r room) []byte {
		class, name := eventClass(e)
		dst = append(dst, "CEF:0|clawai|clawai|"...)
		dst = append(dst, cefHeader.Replace(r.fitText(s.Version, false))...)
		dst = append(dst, "|"+class+"|"+name+"|"...)
		dst = strconv.AppendInt(dst, int64(levels[levelOf(e)].cef), 10)
		dst = append(dst, "|rt="...)
		dst = strconv.AppendInt(dst, e.Time.UnixMilli(), 10)
		if s.Host != "" {
			dst = append(append(dst, " dvchost="...), cefValue.Replace(r.fitText(s.Host, false))...)
		}
		for _, c := range columns {
			v := c.value(e)
			if c.cef == "" || v == "" {
				continue
			}
			if c.label != "" {
				dst = append(dst, " "+c.cef+"Label="+c.label...)
			}
			dst = append(dst, " "+c.cef+"="...)
			dst = append(dst, cefValue.Replace(r.fitText(v, c.long))...)
		}
		return dst
	})
}

// eventClass returns the identifier and the name of a record's kind of event.
func eventClass(e *event.Entry) (class, name string) {
	kind := string(e.Kind)
	if !event.IsKind(kind) {
		kind = "other"
	}
	switch {
	case e.Kind != event.Decision:
		return kind, "MCP " + kind
	case e.Decision == "deny":
		return "decision:deny", "MCP call denied"
	case e.IsObserved():
		return "decision:observed", "MCP call observed"
	}
	return "decision:allow", "MCP call allowed"
}

// facility is syslog's number for "log audit".
const facility = 13

// structuredID names our structured data. 32473 is the enterprise number that RFC 5612 reserves for
// examples, because we have no number of our own.
const structuredID = "clawai@32473"

// AppendSyslog appends an event as a message of RFC 5424. All its columns are in the structured
// data.
func AppendSyslog(dst []byte, e *event.Entry, s Source) []byte {
	return appendFitting(dst, func(dst []byte, r room) []byte {
		dst = appendHeader(dst, e, s)
		dst = append(dst, "["+structuredID...)
		for _, c := range columns {
			if v := c.value(e); c.syslog != "" && v != "" {
				dst = append(dst, " "+c.syslog+`="`...)
				dst = append(dst, sdValue.Replace(r.fitText(v, c.long))...)
				dst = append(dst, '"')
			}
		}
		dst = append(dst, "] "...)
		return append(dst, r.fitText(summary(e), false)...)
	})
}

// AppendCEFInSyslog appends an event in CEF as the text of a message of RFC 5424.
func AppendCEFInSyslog(dst []byte, e *event.Entry, s Source) []byte {
	return AppendCEF(append(appendHeader(dst, e, s), "- "...), e, s)
}

// appendHeader appends the header of RFC 5424 and the blank after it.
func appendHeader(dst []byte, e *event.Entry, s Source) []byte {
	class, _ := eventClass(e)
	dst = append(dst, '<')
	dst = strconv.AppendInt(dst, int64(facility*8+levels[levelOf(e)].syslog), 10)
	dst = append(dst, ">1 "+stamp(e.Time)+" "...)
	for _, word := range []struct {
		text string
		most int
	}{{s.Host, 255}, {"clawai", 48}, {e.Session, 128}, {class, 32}} {
		dst = append(append(dst, headerWord(word.text, word.most)...), ' ')
	}
	return dst
}

// headerWord returns a word for a header: printable ASCII without blanks. The parameter most is the
// maximum length. headerWord returns "-" for an empty text.
func headerWord(s string, most int) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < most; i++ {
		if c := s[i]; c > ' ' && c <= '~' {
			b.WriteByte(c)
		} else {
			b.WriteByte('?')
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}
