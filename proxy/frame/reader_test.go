package frame_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clawai/clawai/proxy/frame"
)

func TestReaderLines(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	in := "a\r\n\nbb\n" + long + "\nccc\n" + strings.Repeat("y", 300_001) + "\nd\nrest"
	for name, src := range map[string]io.Reader{
		"whole": strings.NewReader(in),
		"bytes": iotest.OneByteReader(strings.NewReader(in)),
		"half":  iotest.HalfReader(strings.NewReader(in)),
		"eof":   iotest.DataErrReader(strings.NewReader(in)),
	} {
		r := frame.NewReader(src, 300_000)
		var got []string
		for {
			line, err := r.Next()
			var x *frame.Refusal
			if errors.As(err, &x) {
				got = append(got, "!"+x.Code)
				continue
			}
			if err != nil {
				got = append(got, "!"+err.Error())
				break
			}
			got = append(got, string(line))
		}
		want := []string{"a\r", "", "bb", long, "ccc", "!too_long", "d", "!truncated", "!EOF"}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %d lines", name, len(got))
			for i, g := range got {
				t.Logf("%d %.30q (%d)", i, g, len(g))
			}
		}
	}
}
