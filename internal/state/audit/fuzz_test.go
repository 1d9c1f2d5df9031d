package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
)

// FuzzReader: no bytes make a reader panic or stop short, and what it takes for
// a chain of records is one.
func FuzzReader(f *testing.F) {
	e := encoder{Redactor: redact.New(redact.Redacted, testKey), session: "abcdefghij"}
	c := newChain()
	b := e.appendHeader(nil, &c, time.Unix(1, 0), "x.ndjson")
	b = c.sealLine(e.appendEvent(b, &c, &event.Event{Kind: event.Passed, Method: "ping"}), len(b))
	failed := failure{fragment: []byte("ab"), refused: 1, reason: "full"}
	b = e.appendRecovery(append(b, "ab\n"...), &c, time.Unix(2, 0), &failed)
	f.Add(b, uint16(0), byte(0))
	f.Add(b, uint16(100), byte(1))
	f.Add([]byte("{}\n\n{"), uint16(0), byte(0))
	f.Add([]byte(`{"seq":1,"time":"`+strings.Repeat("x", 300)+"\"}\n"), uint16(1), byte(3))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, flip byte) {
		b = bytes.Clone(b)
		if len(b) > 0 {
			b[int(at)%len(b)] ^= flip
		}
		s := newScanner(bytes.NewReader(b))
		whole := 0
		prev, seq, broken, sound := "", uint64(0), false, true
		for {
			it, err := s.nextItem()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			sound = sound && it.problem == "" && it.healed == 0
			broken = broken || it.problem != "" || it.healed > 0
			if it.raw == nil {
				continue
			}
			whole += len(it.raw) + 1
			if it.problem == "" && it.healed == 0 && prev != "" && !broken && (string(it.link.prev) != prev || it.link.seq != seq+1) {
				t.Fatalf("line %d is taken for the next of a chain and is not", it.line)
			}
			prev, seq, broken = string(it.link.hash), it.link.seq, false
			if _, err := parseEntry("f", it); err != nil && !isDamage(err) {
				t.Fatal(err)
			}
		}
		if n, _ := s.digestRest(); sound && whole+n != len(b) {
			t.Fatalf("%d of %d bytes are accounted for", whole+n, len(b))
		}
	})
}

// No bytes in its files make any reader of a directory fail.
func TestReadersTakeAnyBytes(t *testing.T) {
	dir := t.TempDir() + "/audit"
	closedLog(t, dir)
	var all [][]byte
	for _, b := range files(t, dir) {
		all = append(all, b)
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := bytes.Clone(rapid.SampledFrom(all).Draw(rt, "file"))
		for range rapid.IntRange(0, 5).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(b)).Draw(rt, "at")
			end := min(len(b), at+rapid.IntRange(0, 100).Draw(rt, "cut"))
			with := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "with")
			b = slices.Concat(b[:at], with, b[end:])
		}
		verifyAll(t, b)
	})
}

// verifyAll runs every reader of files over b, as a segment and as the ledger.
func verifyAll(t *testing.T, b []byte) {
	dir := t.TempDir()
	segment := segmentName(time.Unix(1, 0), "abcdefghij")
	for _, name := range []string{segment, ledgerName} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Verify(dir, "", Retention{}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []Filter{{}, {Last: 3}} {
		for _, err := range Read(dir, f) {
			if err != nil && !isDamage(err) {
				t.Fatal(err)
			}
		}
	}
}

// FuzzArgs: whatever the arguments are, they become JSON in printable ASCII,
// and in full mode JSON keeps its meaning.
func FuzzArgs(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\ud83d\ude00\\"}],"token":"x","argv":["--password","y"]}`))
	f.Add([]byte(`{"a":"password=x https://u:p@h Bearer 12345678 -----BEGIN PRIVATE KEY-----"}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, mode := range []redact.Mode{redact.Redacted, redact.Hashed, redact.Full} {
			raw, e := line(t, mode, event.Event{Args: b, Detail: string(b)})
			for _, c := range []byte(raw) {
				if c < ' ' || c > '~' {
					t.Fatalf("byte %#x in %q", c, raw)
				}
			}
			if mode == redact.Full && len(b) < redact.MaxText && sameJSON(b, e.Args) == differs {
				t.Fatalf("%q is kept as %q", b, e.Args)
			}
		}
	})
}

type sameness int

const (
	same sameness = iota
	differs
	noJSON
)

// sameJSON compares what two texts mean; a text that readers take differently
// (duplicate names, lone surrogates, odd bytes) means nothing here.
func sameJSON(a, b []byte) sameness {
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	if len(a) == 0 || x.Canonicalize() != nil {
		return noJSON
	}
	if y.Canonicalize() != nil || !bytes.Equal(x, y) {
		return differs
	}
	return same
}
