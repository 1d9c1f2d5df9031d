package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The properties of an edit of a remote entry, over generated files; the long
// run is
//
//	go test ./wrap/client -run 'RemoteProperties' -rapid.checks=20000
func TestRemoteProperties(t *testing.T) {
	slow.Test(t)
	slow.Checks(t, 30, 2500)
	for _, c := range []struct {
		format  Format
		samples *rapid.Generator[remoteSample]
	}{
		{JSON, jsonRemotes(JSON)},
		{JSONC, jsonRemotes(JSONC)},
		{JSON5, jsonRemotes(JSON5)},
		{TOML, tomlRemotes},
		{YAML, yamlRemotes},
	} {
		t.Run(string(c.format), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkRemote(t, c.samples.Draw(t, "file")) })
		})
	}
}

func checkRemote(t *rapid.T, s remoteSample) {
	src := []byte(s.src)
	e := target(t, s.sample, src)
	if e.Kind != Remote || e.URL != s.url || e.Command != "" || e.Wrapped != nil {
		t.Fatalf("read %+v of\n%s", e, src)
	}
	checkRedirect(t, s, e, src)
	if e.Problem != nil {
		if s.mayBeRefused(e.Problem.Error()) {
			t.Skip(e.Problem)
		}
		t.Fatalf("%v\n%s", e.Problem, src)
	}
	w := Wrapper{Path: rapid.SampledFrom([]string{"clawai", "/opt/my tools/clawai"}).Draw(t, "path")}
	if rapid.Bool().Draw(t, "observe") {
		w.Observe = true
	}
	after, err := Wrap(s.row, src, e, w)
	if err != nil {
		if s.mayBeRefused(err.Error()) {
			t.Skip(err)
		}
		t.Fatalf("wrap: %v\n%s", err, src)
	}
	again, err := Wrap(s.row, after, e, w)
	if err != nil || string(again) != string(after) {
		t.Fatalf("wrapped twice: %v\n%s\n%s", err, after, again)
	}
	now := target(t, s.sample, after)
	if now.Kind != Remote || now.URL != s.url || now.Wrapped == nil || now.Wrapped.Differs != nil || now.Problem != nil || now.SignsIn != e.SignsIn {
		t.Fatalf("read back %+v of\n%s", now, after)
	}
	checkRemoteMeaning(t, s, string(after))
	back, err := Unwrap(s.row, after, e)
	if err != nil || string(back) != s.src {
		t.Fatalf("unwrap: %v\n%s\n%s\n%s", err, src, after, back)
	}
	checkEdited(t, s.sample, e, string(after))
	checkUpdated(t, s.sample, e, after)
	checkMasked(t, s, e, src, after)
}

// mayBeRefused: a bare YAML scalar may have no place between brackets, and a
// comment that would go with a member stays.
func (s remoteSample) mayBeRefused(why string) bool {
	if s.row.StrictKeys && s.row.Nested != "" && strings.Contains(why, "\"oauth\"") {
		return true // outside of the transport that is edited
	}
	if s.row.StrictKeys && (s.row.Format == JSONC || s.row.Format == JSON5) && strings.Contains(why, "there is something among") {
		return true
	}
	return s.row.Format == YAML && strings.Contains(why, "would read otherwise inside a list")
}

// checkRemoteMeaning: to another parser the entry is a process with the address
// and the headers of the remote one, nothing secret among its words, and all
// else is as it was.
func checkRemoteMeaning(t *rapid.T, s remoteSample, after string) {
	want, err := decode(s.row.Format, s.src)
	if err != nil {
		t.Fatalf("the sample does not decode: %v\n%s", err, s.src)
	}
	got, err := decode(s.row.Format, after)
	if err != nil {
		t.Fatalf("the wrapped file does not decode: %v\n%s", err, after)
	}
	entry, err := at(want, s.path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := at(got, s.path)
	if err != nil {
		t.Fatal(err)
	}
	words, env := process(s.row, now)
	for _, secret := range append([]string{"s3cr3t", "${"}, secrets(s)...) {
		if strings.Contains(strings.Join(words, "\n"), secret) {
			t.Fatalf("%q stands among the words\n%s", secret, after)
		}
	}
	address := words[len(words)-1]
	if address == urlReference {
		address = fmt.Sprint(env[urlVariable])
	}
	if address != s.url {
		t.Fatalf("goes to %q, not to %q\n%s", address, s.url, after)
	}
	for i, h := range s.headers {
		line := fmt.Sprint(env[fmt.Sprint(headerVariable, i+1)])
		if line != h[0]+": "+h[1] && line != h[0]+":"+h[1] && !slices.ContainsFunc(s.headers, func(h [2]string) bool { return line == h[0]+": "+h[1] || line == h[0]+":"+h[1] }) {
			t.Fatalf("header %q is %q\n%s", h, line, after)
		}
	}
	clear(entry)
	clear(now)
	if !same(got, want) {
		t.Fatalf("got\n%v\nwant\n%v\nof\n%s", got, want, after)
	}
}

// secrets are the values that must not stand on a command line.
func secrets(s remoteSample) []string {
	var all []string
	for _, h := range s.headers {
		if len(h[1]) > 10 {
			all = append(all, h[1])
		}
	}
	if _, query, ok := strings.Cut(s.url, "?"); ok {
		all = append(all, query)
	}
	return all
}

// process is what a decoded entry starts, and with which environment.
func process(r Row, entry map[string]any) (words []string, env map[string]any) {
	if nested, ok := entry[r.Nested].(map[string]any); ok {
		entry = nested
	}
	all := []any{entry[r.commandKey()]}
	if list, ok := all[0].([]any); ok {
		all = list
	} else if args, ok := entry[r.argsKey()].([]any); ok {
		all = append(all, args...)
	}
	for _, word := range all {
		words = append(words, fmt.Sprint(word))
	}
	env, _ = entry[r.envKey()].(map[string]any)
	return words, env
}

// checkMasked: what is shown of the file holds no secret, bare or wrapped.
func checkMasked(t *rapid.T, s remoteSample, e Entry, files ...[]byte) {
	for _, src := range files {
		shown := string(MaskFile(s.row, src))
		if strings.Contains(shown, "s3cr3t") {
			t.Fatalf("shown\n%s", shown)
		}
	}
}
