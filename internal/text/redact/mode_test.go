package redact

import (
	"strings"
	"testing"
)

func TestModesAreReadAsTheyAreWritten(t *testing.T) {
	for _, m := range []Mode{Redacted, Hashed, Full} {
		if got, err := ParseMode(m.String()); err != nil || got != m || New(m, testKey).Mode() != m {
			t.Errorf("%v is read as %v, %v", m, got, err)
		}
	}
	for _, word := range []string{"", "Full", "hashed", Mode(7).String()} {
		if got, err := ParseMode(word); err == nil || got != Redacted {
			t.Errorf("%q is read as %v", word, got)
		}
	}
}

// What each mode keeps of a secret, of a long text and of a digest.
func TestModes(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for mode, want := range map[Mode][3]string{
		Redacted: {"[redacted:github:44]", "[cut:4097:hmac:", "hmac:"},
		Hashed:   {"[redacted:github:44:", "[cut:4097:hmac:", "hmac:"},
		Full:     {github, "[cut:4097:sha256:", "sha256:"},
	} {
		r := New(mode, testKey)
		for i, got := range []string{
			string(r.AppendString(nil, github)), string(r.AppendString(nil, long))[MaxText:], string(r.AppendDigest(nil, &[32]byte{1})),
		} {
			if !strings.HasPrefix(got, want[i]) || IsRedacted(got) != (i == 1 || i == 0 && mode != Full) {
				t.Errorf("%v, %d: %s", mode, i, got)
			}
		}
		args, cut := r.AppendJSON(nil, []byte(`{"token": "`+plain+`", "n": [1e3, "\u0041"]}`))
		if want := mode == Full; strings.Contains(string(args), plain) != want || cut || !strings.HasSuffix(string(args), `,"n":[1e3,"A"]}`) {
			t.Errorf("%v: %s, %v", mode, args, cut)
		}
	}
}
