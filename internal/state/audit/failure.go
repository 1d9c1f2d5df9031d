package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/clawai/clawai/internal/wire/escape"
)

// failure is what is known of writes that did not succeed since the last that
// did. The next write that succeeds begins with a line that tells it, so that
// half a line is never followed by a good one as if nothing had happened.
type failure struct {
	fragment []byte // what they left after the last whole line
	unended  bool   // the last whole line lacks its LF
	refused  int    // records that were refused
	recorded int    // of these, how many stand in the log as whole lines
	reason   string
}

// appendSeparator gives the LF that a line after a fragment needs before it.
func (f *failure) appendSeparator(dst []byte) []byte {
	if f.unended || len(f.fragment) > 0 {
		return append(dst, '\n')
	}
	return dst
}

func (f *failure) appendFailure(dst []byte) []byte {
	if len(f.fragment) > 0 {
		sum := sha256.Sum256(f.fragment)
		dst = appendNumber(dst, "bytes", int64(len(f.fragment)))
		dst = append(dst, `,"digest":"sha256:`...)
		dst = append(hex.AppendEncode(dst, sum[:]), '"')
	}
	dst = appendNumber(dst, "refused", int64(f.refused))
	dst = appendNumber(dst, "recorded", int64(f.recorded))
	dst = append(appendKey(dst, "detail"), '"')
	dst = escape.AppendEscaped(dst, []byte(f.reason))
	return append(dst, '"')
}

// noteTornWrite takes in that only the first n bytes of buf, which holds so many events,
// went into the file, and moves c over the lines that stand there whole.
func (f *failure) noteTornWrite(c *chain, buf []byte, n, events int) {
	healing := f.refused > 0 // buf begins with the line that tells the earlier failure
	if healing && n > 0 && buf[0] == '\n' {
		if f.unended {
			f.unended = false
		} else {
			f.fragment = append(f.fragment, '\n')
		}
		buf, n = buf[1:], n-1
	} else if healing && buf[0] == '\n' {
		buf = buf[1:]
	}
	whole := bytes.LastIndexByte(buf[:n], '\n') + 1
	rest := buf[whole:n]
	lines := bytes.Count(buf[:whole], []byte{'\n'})
	c.skipLines(buf[:whole])
	unended := len(rest) > 0 && n < len(buf) && buf[n] == '\n'
	if unended {
		c.skipLines(buf[whole : n+1])
		lines, rest = lines+1, nil
	}
	if healing && lines > 0 {
		*f, lines = failure{}, lines-1
	}
	f.unended = f.unended || unended
	f.fragment = append(f.fragment, rest...)
	f.refused += events
	f.recorded += lines
}
