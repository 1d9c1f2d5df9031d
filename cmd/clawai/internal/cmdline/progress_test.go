package cmdline

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestShowProgress(t *testing.T) {
	for name, c := range map[string]struct {
		takes    time.Duration
		replaces bool
		want     string
	}{
		"short":           {900 * time.Millisecond, true, ""},
		"long":            {2500 * time.Millisecond, true, "\r\x1b[KComparing, 1s so far\r\x1b[KComparing, 2s so far\r\x1b[K"},
		"long, no screen": {2500 * time.Millisecond, false, "Comparing; this takes a while\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			done := showProgress(&out, "Comparing", c.replaces, quietTime)
			time.Sleep(c.takes)
			done()
			done()
			if out.String() != c.want {
				t.Errorf("%s: %q", name, out.String())
			}
		})
	}
}
