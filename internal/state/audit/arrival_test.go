package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// arrive checks a segment that comes in parts which end at the cuts, as a server does that keeps
// nothing between the parts but the bytes and the state as JSON.
func arrive(t testing.TB, name string, text []byte, cuts ...int) (Arrival, []Arrived, []string) {
	t.Helper()
	var a Arrival
	var all []Arrived
	var found []string
	for i, end := range append(slices.Clone(cuts), len(text)) {
		p, err := a.CheckPart(name, bytes.NewReader(text[a.Checked:end]), i == len(cuts))
		if err != nil {
			t.Fatal(err)
		}
		if a.Checked+int64(p.Rest) != int64(end) {
			t.Fatalf("checked %d bytes, %d left, of %d", a.Checked, p.Rest, end)
		}
		all = append(all, p.Records...)
		for _, f := range append(p.Findings, p.Notes...) {
			found = append(found, f.What)
		}
		kept, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		a = Arrival{}
		if err := json.Unmarshal(kept, &a); err != nil {
			t.Fatal(err)
		}
	}
	return a, all, found
}

// A segment that arrives in parts, cut at any byte, has the records and the findings of the whole.
func TestArrivalInParts(t *testing.T) {
	slow.Test(t) // it reads a segment at every length
	dir := t.TempDir() + "/audit"
	closedLog(t, dir)
	all := files(t, dir)
	delete(all, ledgerName)
	bySession := map[string][]Arrival{}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	}) {
		text := all[name]
		session, ok := SplitSegmentName(name)
		if !ok {
			t.Fatalf("%q is no name of a segment", name)
		}
		whole, records, found := arrive(t, name, text)
		if len(found) > 0 || whole.Checked != int64(len(text)) || uint64(len(records)) != whole.Lines-1 {
			t.Fatalf("%s: %+v, %d records, %q", name, whole, len(records), found)
		}
		for _, r := range records {
			if line := text[r.Offset:][:r.Length]; !bytes.Equal(line, r.Raw) {
				t.Fatalf("%s has another text at %d: %s", r.Record, r.Offset, line)
			}
		}
		if len(bySession) > 0 && bySession[session] == nil {
			continue // the second session is built like the first
		}
		for cut := range len(text) {
			if a, parts, found := arrive(t, name, text, cut); a != whole || len(parts) != len(records) || len(found) > 0 {
				t.Fatalf("cut at %d: %+v, %d records, %q", cut, a, len(parts), found)
			}
		}
		if before := bySession[session]; len(before) > 0 && !whole.Follows(&before[len(before)-1]) {
			t.Errorf("%s does not follow", name)
		}
		bySession[session] = append(bySession[session], whole)
	}
}

// What Verify finds in a segment is found as it arrives, and a change before a part that has
// arrived shows in the next part.
func TestArrivalOfChangedSegments(t *testing.T) {
	dir := t.TempDir() + "/audit"
	closedLog(t, dir)
	for name, text := range files(t, dir) {
		if name == ledgerName {
			continue
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		for what, changed := range map[string][]byte{
			"a byte":       bytes.Replace(text, []byte(`"decision"`), []byte(`"decisiom"`), 1),
			"a line less":  bytes.Join(append([][]byte{lines[0]}, lines[2:]...), nil),
			"a line twice": bytes.Join(append([][]byte{lines[0], lines[1]}, lines[1:]...), nil),
			"a beginning":  bytes.Join(lines[1:], nil),
			"a line more":  append(bytes.Clone(text), "{\"seq\":1}\n"...),
			"zeros":        append(bytes.Clone(text), make([]byte, 100)...),
		} {
			if _, _, found := arrive(t, name, changed); len(found) == 0 && !bytes.Equal(changed, text) {
				t.Errorf("%s: nothing is found", what)
			}
		}
		// The owner writes all again behind what was shipped, as a record of the same session.
		half := len(lines[0]) + len(lines[1])
		var a Arrival
		if _, err := a.CheckPart(name, bytes.NewReader(text[:half]), false); err != nil {
			t.Fatal(err)
		}
		c := chain{next: a.Next}
		copy(c.prev[:], strings.Repeat("0", hashLen))
		forked := c.sealLine(append(c.beginLine(nil, sample().Time), `,"session":"x"`...), 0)
		p, err := a.CheckPart(name, bytes.NewReader(forked), false)
		if err != nil || len(p.Findings) == 0 {
			t.Errorf("a fork: %+v, %v", p, err)
		}
	}
}

func TestNamesOfSegments(t *testing.T) {
	for name, ok := range map[string]bool{
		"20261130T100203.123456789Z-k3f9x2m7qa.ndjson":    true,
		"20261130T100203.123456789Z-k3f9x2m7q.ndjson":     false,
		"20261130T100203.123456789Z-k3f9x2m7qA.ndjson":    false,
		"20261130T100203.123456789Z-k3f9x2m7ql.ndjson":    false, // an l is not in the alphabet
		"20261130T100203.12345678Z-k3f9x2m7qa.ndjson":     false,
		"20261330T100203.123456789Z-k3f9x2m7qa.ndjson":    false,
		"../20261130T100203.123456789Z-k3f9x2m7qa.ndjson": false,
		"20261130T100203.123456789Z-../../etca.ndjson":    false,
		"ledger.ndjson": false,
		"":              false,
	} {
		if session, got := SplitSegmentName(name); got != ok || ok && session != "k3f9x2m7qa" {
			t.Errorf("%q: %q, %v", name, session, got)
		}
	}
}

// Whatever arrives and wherever it is cut, the records, the findings and the state are those of the
// whole.
func FuzzArrival(f *testing.F) {
	dir := f.TempDir() + "/audit"
	closedLog(f, dir)
	const name = "20261130T100203.123456789Z-k3f9x2m7qa.ndjson"
	for _, text := range files(f, dir) {
		f.Add(text, 100)
		f.Add(append(bytes.Clone(text[:200]), text[250:]...), 300)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if len(text) > 1<<16 || cut < 0 || cut > len(text) {
			t.Skip()
		}
		whole, records, found := arrive(t, name, text)
		a, parts, again := arrive(t, name, text, cut)
		if a != whole || len(parts) != len(records) || !slices.Equal(found, again) {
			t.Errorf("cut at %d: %+v, %d records, %q; whole: %+v, %d records, %q", cut, a, len(parts), again, whole, len(records), found)
		}
	})
}
