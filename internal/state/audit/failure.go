package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/clawai/clawai/internal/wire/escape"
)

// failure describes the failed writes since the last successful write. The next successful write
// begins with a line that reports them, so that a reader who finds half a line learns the reason.
type failure struct {
	fragment []byte // bytes that the failed writes left after the last whole line
	unended  bool   // the last whole line in the file lacks its LF
	refused  int    // number of refused records
	recorded int    // number of the refused records that are in the file as whole lines anyway
	reason   string
}

// appendSeparator appends an LF before the next line if the file does not end with an LF.
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

// noteTornWrite notes that only the first n bytes of buf were written. events is the number of
// events in buf. noteTornWrite moves c past the lines that were written whole.
func (f *failure) noteTornWrite(c *chain, buf []byte, n, events int) {
	healing := f.refused > 0 // buf begins with the line that reports the earlier failure
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
