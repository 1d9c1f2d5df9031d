package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clawai/clawai/internal/event"
)

// tally is the result of reading the lines of a segment.
type tally struct {
	lines       uint64
	first, last string // hashes of the first and the last line
	rest        int    // number of bytes after the last good line
	restDigest  string // digest of the bytes after the last good line
	restLine    int    // line number at which the bytes after the last good line begin
	restBroken  bool   // the bytes after the last good line contain a whole line
	live        bool   // a process writes to the segment
	zeros       int64  // number of zero bytes at the end
	readOnly    bool   // the file mode says that the segment is closed
}

// maxReserved is a size in bytes. A session never reserves so much space after its records.
const maxReserved = 512 << 10

// checkSegment checks one file by itself, against the ledger, and against the previous segment of
// the same session. The parameter last maps a session to the last hash of its previous segment.
func (v *verifier) checkSegment(fi fs.FileInfo, last map[string]string) error {
	name := fi.Name()
	_, session, _ := parseSegmentName(name)
	f, err := os.OpenFile(filepath.Join(v.dir, name), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return v.removedSince(name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	before, ok := last[session]
	if !ok {
		before, ok = v.removedBefore(name, session)
	}
	t, err := v.readLines(f, name, session, before, ok)
	if err != nil {
		return err
	}
	v.report.Segments++
	v.report.Records += t.lines
	v.report.Bytes += fi.Size()
	if t.lines > 0 {
		last[session] = t.last
	}
	known := v.statements[name]
	switch {
	case known == nil && t.lines > 1:
		v.addFinding(name, 0, "the ledger does not name this segment")
	case known == nil:
		v.addNote(name, 0, "a session died before it recorded anything here")
	case t.lines > 0 && t.first != known.first:
		v.addFinding(name, 1, "the ledger names another first record for this segment (line %d)", known.line)
	}
	if known != nil && known.end == nil && known.isOther(fileNode(fi)) {
		v.addFinding(name, 0, "is another file than line %d of the ledger began: %s", known.line, copyMeaning)
	}
	v.checkEnding(name, known, t)
	return nil
}

// readLines reads the file and checks its lines. The parameter before is the last hash of the
// session's previous segment; known is false if the previous segment is not known.
func (v *verifier) readLines(f *os.File, name, session, before string, known bool) (tally, error) {
	var t tally
	s, broken, err := readSegment(f, func(it item) {
		v.checkLine(name, it)
		if it.raw == nil {
			return
		}
		if t.lines++; t.lines == 1 {
			t.first = string(it.link.hash)
			v.checkHeader(name, session, before, known, it)
		}
		t.last = string(it.link.hash)
	})
	if err != nil {
		return t, err
	}
	t.restBroken = broken
	t.rest, t.restDigest = s.digestRest()
	t.restLine = s.gap.line
	end, _, err := lookBehind(f, s.end)
	if err != nil {
		return t, err
	}
	fi, err := f.Stat()
	if err != nil {
		return t, err
	}
	t.zeros, t.readOnly = fi.Size()-end, isClosed(fi)
	free, err := tryLock(f, true)
	t.live = err == nil && !free
	return t, nil
}

// checkHeader checks the first line. The line must name its own file, and it must follow the
// session's previous segment.
func (v *verifier) checkHeader(name, session, before string, known bool, it item) {
	var w stored
	if err := json.Unmarshal(it.raw, &w); err != nil || w.Kind != event.Segment || w.File != name || w.Session != session {
		v.addFinding(name, it.line, "the first record does not name this file: it was renamed, swapped, or lost its beginning")
		return
	}
	if w.Format != format {
		v.addNote(name, it.line, "the format is %d; this program knows %d", w.Format, format)
	}
	switch prev := string(it.link.prev); {
	case it.link.seq == 1 && prev != noHash, before != "" && prev != before:
		v.addFinding(name, it.line, "does not follow the session's segment before it")
	case it.link.seq > 1 && !known:
		v.addFinding(name, it.line, "begins with line %d of its session, and neither the lines before it nor an account of their removal is there", it.link.seq)
	}
}

// checkEnding compares the end of the file with the end that the ledger recorded.
func (v *verifier) checkEnding(name string, known *statement, t tally) {
	if known == nil || known.end == nil {
		day := acceptsCalls(name, v.now)
		switch {
		case t.restBroken:
			v.addFinding(name, t.restLine, "%d bytes at the end are not a record, or one that was changed", t.rest)
		case t.rest > 0 && !t.live && day:
			v.addNote(name, t.restLine, "%d bytes at the end are not a whole record; no call is added to them, and the first session after this day accounts for them", t.rest)
		case t.rest > 0 && !t.live:
			v.addNote(name, t.restLine, "%d bytes at the end are not a whole record; the next session will account for them", t.rest)
		}
		switch {
		case known == nil || t.live || day && t.rest > 0:
		case day:
			v.addNote(name, 0, "calls of this day may still come: whether its newest records are all here cannot be known before it is closed")
		default:
			v.addNote(name, 0, "its session ended without closing it: whether its newest records are all here cannot be known")
		}
		return
	}
	end := known.end
	switch {
	case t.zeros == 0 || t.live:
	case t.readOnly || t.zeros > maxReserved:
		v.addFinding(name, 0, "%d zero bytes were put behind its end", t.zeros)
	default:
		v.addNote(name, 0, "the last %d bytes are reserved room: its process died before it gave them back, and the next session cuts them off", t.zeros)
	}
	if t.lines != end.Lines || t.last != end.Last {
		v.addFinding(name, 0, "%s (line %d of the ledger)", lengthsText(t.lines, end.Lines), end.position)
	}
	if known.line == end.position && t.lines > 1 {
		v.addNote(name, 0, "the ledger did not name it before line %d closed it: it was put there, or the line that began it was lost", end.position)
	}
	same := int64(t.rest) == end.Bytes && t.restDigest == end.Digest
	switch {
	case t.restBroken && same:
		v.addNote(name, t.restLine, "the last %d bytes were no record, or one that was changed, before line %d of the ledger closed it", t.rest, end.position)
	case t.rest > 0 && same:
		v.addNote(name, t.restLine, "its session died while it wrote the last %d bytes, as line %d of the ledger says", t.rest, end.position)
	case !same:
		v.addFinding(name, t.restLine, "%d bytes behind the last whole record, where the ledger knows %d", t.rest, end.Bytes)
	}
}

// removedBefore returns the last hash of the session's segment before name, if that segment was
// removed. The hash comes from the ledger.
func (v *verifier) removedBefore(name, session string) (last string, ok bool) {
	var latest string
	for _, other := range v.bySession[session] {
		if known := v.statements[other]; other < name && other > latest && known.end != nil {
			latest, last, ok = other, known.end.Last, true
		}
	}
	return last, ok
}

func lengthsText(have, want uint64) string {
	if have == want {
		return "it does not end with the record it was closed with"
	}
	return fmt.Sprintf("it holds %d whole records, and held %d when it was closed", have, want)
}

// removedSince reads the ledger again for a segment that vanished after it was listed.
func (v *verifier) removedSince(name string) error {
	again := newVerifier(v.dir, v.keep)
	if _, err := again.readSnapshot(""); err != nil {
		return err
	}
	if known := again.statements[name]; known == nil || !known.removed {
		v.addFinding(name, 0, "the segment vanished while it was being verified")
	}
	return nil
}
