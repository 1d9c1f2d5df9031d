package remote_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clawai/clawai/internal/wire/sse"
)

// all reads a stream to its end.
func all(t testing.TB, r io.Reader, max int) (events []*sse.Event) {
	t.Helper()
	for in := sse.NewReader(r, max); ; {
		e, err := in.ReadEvent()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []sse.Event
	}{
		{"one", "data: x\n\n", []sse.Event{{Data: []byte("x"), HasData: true, Retry: -1}}},
		{"no blank before the value", "data:x\n\n", []sse.Event{{Data: []byte("x"), HasData: true, Retry: -1}}},
		{"one blank is taken off", "data:  x\n\n", []sse.Event{{Data: []byte(" x"), HasData: true, Retry: -1}}},
		{"lines are joined", "data: a\ndata: b\n\n", []sse.Event{{Data: []byte("a\nb"), HasData: true, Retry: -1}}},
		{"a name without a colon", "data\ndata\n\n", []sse.Event{{Data: []byte("\n"), HasData: true, Retry: -1}}},
		{"CR", "data: a\r\rdata: b\r\r", []sse.Event{
			{Data: []byte("a"), HasData: true, Retry: -1}, {Data: []byte("b"), HasData: true, Retry: -1}}},
		{"CRLF", "id: 1\r\ndata: a\r\n\r\n", []sse.Event{{ID: "1", HasID: true, Data: []byte("a"), HasData: true, Retry: -1}}},
		{"byte order mark", "\ufeffdata: a\n\n", []sse.Event{{Data: []byte("a"), HasData: true, Retry: -1}}},
		{"comment", ": keep\n\n", []sse.Event{{Comment: true, Retry: -1}}},
		{"priming", "id: 7\nretry: 250\ndata:\n\n", []sse.Event{{ID: "7", HasID: true, Retry: 250, Data: nil, HasData: true}}},
		{"retry that is none", "retry: 2x\n\n", []sse.Event{{Retry: -1}}},
		{"an id with NUL", "id: a\x00b\n\n", []sse.Event{{Retry: -1}}},
		{"unknown fields", "foo: 1\nEvent: 2\nevent: endpoint\ndata: /m\n\n",
			[]sse.Event{{Name: "endpoint", Data: []byte("/m"), HasData: true, Retry: -1}}},
		{"cut off", "data: a\n\ndata: half", []sse.Event{{Data: []byte("a"), HasData: true, Retry: -1}}},
		{"cut off after a line", "data: half\n", nil},
	}
	for _, tt := range tests {
		for how, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.stream), "by bytes": iotest.OneByteReader(strings.NewReader(tt.stream)),
		} {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				got := all(t, r, 1<<10)
				if len(got) != len(tt.want) {
					t.Fatalf("%d events, want %d", len(got), len(tt.want))
				}
				for i, w := range tt.want {
					same(t, got[i], &w)
				}
			})
		}
	}
}

func same(t testing.TB, got, want *sse.Event) {
	t.Helper()
	if got.Name != want.Name || !bytes.Equal(got.Data, want.Data) || got.HasData != want.HasData ||
		got.ID != want.ID || got.HasID != want.HasID || got.Retry != want.Retry || got.Comment != want.Comment {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An event must not wait for bytes that belong to the next one.
func TestAnEventIsGivenAtOnce(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		r, w := io.Pipe()
		got := make(chan string, 1)
		go func() {
			e, err := sse.NewReader(r, 100).ReadEvent()
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(e.Data)
		}()
		_, _ = io.WriteString(w, "data: now"+end)
		if data := <-got; data != "now" {
			t.Errorf("%q: got %q", end, data)
		}
		_ = w.Close()
	}
}

func TestABound(t *testing.T) {
	const max = 64
	for _, stream := range []string{
		"data: " + strings.Repeat("x", max), strings.Repeat("data: x\n", max), strings.Repeat(":\n", max),
	} {
		if _, err := sse.NewReader(strings.NewReader(stream), max).ReadEvent(); !errors.Is(err, sse.ErrTooLong) {
			t.Errorf("%.20q: %v", stream, err)
		}
	}
}

// FuzzReader: what was read is the stream, byte for byte, but for what the end
// cut off; and however it arrives, the same events come out.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "\ufeff: c\r\n\r\nid\r\r", "event: x\ndata: {\"a\":1}\nretry: 5\n\n", "data: a\r\n\r\n\ndata",
		"data: " + strings.Repeat("x", 4<<10-7) + "\r\n\ndata: b\n\n", // the reader's buffer ends between CR and LF
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole := all(t, bytes.NewReader(stream), len(stream)+1)
		single := all(t, iotest.OneByteReader(bytes.NewReader(stream)), len(stream)+1)
		if len(whole) != len(single) {
			t.Fatalf("%d events at once, %d by bytes", len(whole), len(single))
		}
		var raw, bytewise []byte
		readsNothing(t, stream)
		for i, e := range whole {
			same(t, single[i], e)
			raw, bytewise = append(raw, e.Raw...), append(bytewise, single[i].Raw...)
		}
		if !bytes.HasPrefix(stream, raw) || !bytes.HasPrefix(stream, bytewise) {
			t.Fatalf("%q and %q are not how %q begins", raw, bytewise, stream)
		}
	})
}

// readsNothing: what HasEvent promises is there without another read of the stream.
func readsNothing(t *testing.T, stream []byte) {
	from := &countedReads{Reader: iotest.HalfReader(bytes.NewReader(stream))}
	for r := sse.NewReader(from, len(stream)+1); ; {
		promised, before := r.HasEvent(), from.n
		_, err := r.ReadEvent()
		if promised && (err != nil || from.n != before) {
			t.Fatalf("an event of %q was promised, and took %d reads: %v", stream, from.n-before, err)
		}
		if err != nil {
			return
		}
	}
}

// countedReads counts the reads.
type countedReads struct {
	io.Reader
	n int
}

func (c *countedReads) Read(p []byte) (int, error) {
	c.n++
	return c.Reader.Read(p)
}

// FuzzAppend: an event that is written is read back as it was, and as one.
func FuzzAppend(f *testing.F) {
	f.Add("message", "1", []byte("{}"), 10)
	f.Add("a\nevent: b", "2\r\rdata: x", []byte("x\n\ndata: y\rid: 9\r\n"), -1)
	f.Fuzz(func(t *testing.T, name, id string, data []byte, retry int) {
		e := sse.Event{Name: name, ID: id, HasID: true, Data: data, HasData: true, Retry: max(retry, -1)}
		block := e.AppendBlock(nil)
		got := all(t, bytes.NewReader(block), len(block)+1)
		if len(got) != 1 {
			t.Fatalf("%d events from %q", len(got), block)
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if string(got[0].Data) != lines || got[0].Retry != e.Retry || !got[0].HasID {
			t.Fatalf("%+v became %+v", e, got[0])
		}
		if !got[0].Plain && bytes.IndexByte(data, 0) < 0 {
			t.Fatalf("%q is not plain", block)
		}
		if !strings.ContainsAny(name+id, "\r\n\x00") && (got[0].Name != name || got[0].ID != id) {
			t.Fatalf("%+v became %+v", e, got[0])
		}
	})
}

func BenchmarkReader(b *testing.B) {
	stream := []byte(strings.Repeat("event: message\nid: 12\ndata: "+strings.Repeat("x", 500)+"\n\n", 100))
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		all(b, bytes.NewReader(stream), 1<<20)
	}
}
