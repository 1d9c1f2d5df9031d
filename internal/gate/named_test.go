package gate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// nametag is a caller that knows its client.
type nametag struct {
	None
	name, version string
}

func (n nametag) Named() (name, version string) { return n.name, n.version }

func TestTheClientsNameIsKeptShort(t *testing.T) {
	for _, tt := range []struct{ name, version, want string }{
		{"claude-code", "2.1", "claude-code 2.1"}, {"", "", ""}, {"x", "", "x"},
	} {
		if got := clientName(nametag{name: tt.name, version: tt.version}); got != tt.want {
			t.Errorf("%q %q: %q", tt.name, tt.version, got)
		}
	}
	long := clientName(nametag{name: strings.Repeat("ä", 1000), version: "1"})
	if len(long) > maxName+len("…") || !strings.HasSuffix(long, "…") || !utf8.ValidString(long) {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
