package policytext_test

import (
	"testing"

	"github.com/clawai/clawai/internal/policytext"
)

func TestKey(t *testing.T) {
	if got := policytext.Key("args", "a.b", "c", ""); got != `args."a.b".c.""` {
		t.Error(got)
	}
}

// What is put behind a policy begins on a line of its own, after an empty one.
func TestAppend(t *testing.T) {
	for src, want := range map[string]string{
		"":          "b\nc\n",
		"a = 1":     "a = 1\n\nb\nc\n",
		"a = 1\n":   "a = 1\n\nb\nc\n",
		"a = 1\r\n": "a = 1\r\n\r\nb\r\nc\r\n",
	} {
		if got := string(policytext.Append([]byte(src), "b\nc\n")); got != want {
			t.Errorf("%q: %q", src, got)
		}
	}
}
