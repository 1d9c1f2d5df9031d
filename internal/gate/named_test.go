package gate

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// nametag is an outlet that knows its client.
type nametag struct{ name, version string }

func (nametag) Forward(*Exchange) error          { return nil }
func (nametag) Refuse(*Exchange, Verdict)        {}
func (nametag) Waiting(*Exchange, time.Duration) {}
func (n nametag) Named() (name, version string)  { return n.name, n.version }

func TestTheClientsNameIsKeptShort(t *testing.T) {
	for _, tt := range []struct{ name, version, want string }{
		{"claude-code", "2.1", "claude-code 2.1"}, {"", "", ""}, {"x", "", "x"},
	} {
		if got := (&Exchange{Out: nametag{tt.name, tt.version}}).named(); got != tt.want {
			t.Errorf("%q %q: %q", tt.name, tt.version, got)
		}
	}
	long := (&Exchange{Out: nametag{strings.Repeat("ä", 1000), "1"}}).named()
	if len(long) > maxNamed+len("…") || !strings.HasSuffix(long, "…") || !utf8.ValidString(long) {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
