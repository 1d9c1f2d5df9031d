package event_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

const example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// form is the form of W3C Trace Context with a fixed length, without the values that it forbids.
var form = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

func FuzzIsTraceparent(f *testing.F) {
	for _, s := range []string{
		"", example, "cc" + example[2:], "ff" + example[2:], strings.ToUpper(example), example + "-more", example[:54], " " + example[1:], example[:54] + "\"",
		"00-" + strings.Repeat("0", 32) + example[35:], example[:36] + strings.Repeat("0", 16) + example[52:], strings.Replace(example, "-", "_", 1),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := form.MatchString(s) && s[:2] != "ff" && strings.Trim(s[3:35], "0") != "" && strings.Trim(s[36:52], "0") != ""
		if got := event.IsTraceparent(s); got != want {
			t.Fatalf("%q: %v", s, got)
		}
		ev := event.Event{Traceparent: s}
		trace, span, flags, ok := ev.ReadTraceparent()
		if again := fmt.Sprintf("%x-%x-%02x", trace, span, flags); ok != want || ok && again != s[3:] {
			t.Errorf("%q is read as %s, %v", s, again, ok)
		}
	})
}

func TestReadingATraceparentAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if !event.IsTraceparent(example) {
			t.Fatal("it is none")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	ev := event.Event{Traceparent: example}
	if trace, _, flags, ok := ev.ReadTraceparent(); !ok || flags != 1 || hex.EncodeToString(trace[:]) != "4bf92f3577b34da6a3ce929d0e0e4736" {
		t.Errorf("%x, %d, %v", trace, flags, ok)
	}
}
