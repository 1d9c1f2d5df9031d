package model

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Each frame that another library writes is read, one behind the other and with frames without a text between;
// what is cut off, or is no frame behind one, is an error.
func TestZstd(t *testing.T) {
	t.Parallel()
	skipped := "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		for _, text := range []string{"", "a", strings.Repeat("word ", 1<<16), strings.Repeat("\x00\xff", 1<<20)} {
			w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level))
			if err != nil {
				t.Fatal(err)
			}
			one := string(w.EncodeAll([]byte(text), nil))
			if one == "" { // it writes nothing for nothing
				continue
			}
			for body, want := range map[string]string{one: text, one + one: text + text, one + skipped + one: text + text, skipped + one: text} {
				if got, err := readZstd(body); err != nil || got != want {
					t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
				}
			}
			for _, broken := range []string{one[:len(one)-1], one[:3], one + "x", one + "\x00\x00\x00\x00", one + one[:len(one)/2]} {
				if got, err := readZstd(broken); err == nil {
					t.Errorf("%d bytes of a broken body", len(got))
				}
			}
		}
	}
}

// A stream goes on as it comes: what a service has flushed is there before the rest comes.
func TestZstdStreams(t *testing.T) {
	t.Parallel()
	from, to := io.Pipe()
	w, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = w.Write([]byte("first"))
		_ = w.Flush()
	}()
	r, err := newZstd(from)
	if err != nil {
		t.Fatal(err)
	}
	some := make([]byte, 100)
	if n, err := r.Read(some); string(some[:n]) != "first" || err != nil {
		t.Errorf("%q %v", some[:n], err)
	}
	_ = from.Close()
}

func readZstd(body string) (string, error) {
	r, err := newZstd(strings.NewReader(body))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

func BenchmarkZstd(b *testing.B) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte(`{"role":"user","content":[{"type":"text","text":"some words of a conversation, and more"}]},`), 1<<14)
	for i := range text {
		text[i] ^= byte(i>>7) & 3
	}
	body := string(w.EncodeAll(text, nil))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := readZstd(body); err != nil {
			b.Fatal(err)
		}
	}
}
