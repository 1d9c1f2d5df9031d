package cmdline

import (
	"runtime/debug"
	"testing"
)

func TestRevision(t *testing.T) {
	rev := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	dirty := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{rev}, " (0123456789ab)"},
		{[]debug.BuildSetting{rev, dirty}, " (0123456789ab, modified)"},
		{[]debug.BuildSetting{dirty}, ""},
	} {
		if got := buildRevision(&debug.BuildInfo{Settings: c.settings}, true); got != c.want {
			t.Errorf("%v: %q, want %q", c.settings, got, c.want)
		}
	}
	if got := buildRevision(nil, false); got != "" {
		t.Errorf("no information gives %q", got)
	}
}
