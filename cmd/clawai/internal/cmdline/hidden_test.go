package cmdline

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("a", 8000)
	for keys, want := range map[string]string{
		"code\r": "code", "code\nmore": "code", "cx\x7fode\r": "code", "co\tde\r": "co\tde", "c\u00e9\x7fode\r": "code", "x\x15code\r": "code", "\x7f\x08code\r": "code", "\x1bcode\x04\r": "code",
		long + "\r": long, strings.Repeat("a", 1<<20) + "\r": strings.Repeat("a", longestHidden), "\r": "",
	} {
		if got, err := readLine(strings.NewReader(keys)); got != want || err != nil {
			t.Errorf("%.20q: %.20q, %v", keys, got, err)
		}
	}
	for keys, want := range map[string]error{"\x03": ErrLeft, "co\x03de\r": ErrLeft, "\x04": ErrLeft, "": io.EOF, "code": io.EOF} {
		if got, err := readLine(strings.NewReader(keys)); got != "" || !errors.Is(err, want) {
			t.Errorf("%q: %q, %v", keys, got, err)
		}
	}
}
