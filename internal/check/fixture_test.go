package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

func TestParseFixture(t *testing.T) {
	fx, err := check.ParseFixture([]byte(`{
	  "server": "files",
	  "method": "tools/call",
	  "params": {"name": "read", "arguments": {"path": "/a b"}},
	  "expected": "prompt"
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if fx.Server != "files" || fx.Method != "tools/call" || *fx.Expected != policy.Prompt ||
		string(fx.Params) != `{"name":"read","arguments":{"path":"/a b"}}` {
		t.Errorf("read as %+v", fx)
	}
}

// A fixture that is read wrongly proves nothing, so each of these is an error
// that says what is wrong.
func TestParseFixtureRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"empty", ``, "not JSON"},
		{"text", `hello`, "not JSON"},
		{"two values", `{"method":"ping"} {}`, "not JSON"},
		{"array", `[]`, "not a JSON object"},
		{"no method", `{"params":{}}`, `"method" is missing`},
		{"empty method", `{"method":""}`, `"method" is missing`},
		{"method no string", `{"method":1}`, `"method" is not a string`},
		{"params no object", `{"method":"ping","params":[]}`, `"params" is not an object`},
		{"unknown member", `{"method":"ping","expect":"deny"}`, `unknown member "expect"`},
		{"other case", `{"Method":"ping"}`, `unknown member "Method"`},
		{"twice", `{"method":"ping","expected":"deny","expected":"allow"}`, `"expected" is there twice`},
		{"twice, escaped", `{"method":"ping","\u006dethod":"pong"}`, `"method" is there twice`},
		{"unknown action", `{"method":"ping","expected":"Deny"}`, `unknown action "Deny"`},
		{"action no string", `{"method":"ping","expected":true}`, `"expected" is not a string`},
		{"annotations no object", `{"method":"ping","annotations":"readOnlyHint"}`, `"annotations" is not an object`},
		{"annotations that are none", `{"method":"ping","annotations":{"readonlyHint":true}}`, `"annotations": "readonlyHint" is not a hint`},
		{"annotations of another type", `{"method":"ping","annotations":{"readOnlyHint":"yes"}}`, `"annotations": "readOnlyHint" is not a hint`},
		{"elsewhere no boolean", `{"method":"ping","elsewhere":"yes"}`, `"elsewhere" can be true, or left out`},
		{"server no string", `{"method":"ping","server":null}`, `"server" is not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := check.ParseFixture([]byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestReadFixtureNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bad, dir, filepath.Join(dir, "missing.json")} {
		if _, err := check.ReadFixture(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("error %v, want one that names %s once", err, path)
		}
	}
}

func TestFindFixtures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.json", "a/c.json", "a/policy.toml", "notes.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := check.FindFixtures(dir)
	if err != nil || len(found) != 2 || !strings.HasSuffix(found[0], "c.json") || !strings.HasSuffix(found[1], "b.json") {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := check.FindFixtures(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing directory must be an error")
	}
}

// FuzzParseFixture: what is read judges without a panic, and a fixture written
// out again from its parts reads the same.
func FuzzParseFixture(f *testing.F) {
	f.Add([]byte(`{"method":"tools/call","params":{"name":"x","arguments":{"path":"/etc/passwd"}},"expected":"deny"}`))
	f.Add([]byte(`{"method":"sampling/createMessage","server":"s","params":{"messages":[]}}`))
	f.Add([]byte(`{"method":"tools/call","params":{"name":"x","name":"y"}}`))
	p, err := policy.Parse("p", []byte("[[rule]]\naction = \"allow\"\ntool = \"**\"\n"), policy.Options{Home: "/home/user"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		fx, err := check.ParseFixture(src)
		if err != nil {
			return
		}
		result := check.JudgeFixture(p, fx, "")
		again, err := check.ParseFixture(render(t, fx))
		if err != nil {
			t.Fatalf("written out again it does not read: %v", err)
		}
		if r := check.JudgeFixture(p, again, ""); r.Action != result.Action || r.Rule != result.Rule {
			t.Errorf("judged %v, written out again %v", result, r)
		}
		if result.Action == policy.Allow && result.Rule == nil && result.Reason == "" {
			t.Error("allowed for no reason")
		}
	})
}

// TestFixtureWithAnnotations: they are written as tools/list has them, and composed so.
func TestFixtureWithAnnotations(t *testing.T) {
	fx, err := check.ParseFixture([]byte(`{"method":"tools/call","params":{"name":"read"},"annotations":{"readOnlyHint":true,"openWorldHint":false},"cwd":"/srv","elsewhere":true}`))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := fx.ReadCalls("files")
	if err != nil || strings.Join(calls[0].Assurances.AssuranceWords(), " ") != "read-only not-destructive idempotent not-open-world" {
		t.Fatalf("%v %v", calls, err)
	}
	composed, err := check.Compose(&calls[0], policy.Allow)
	if err != nil {
		t.Fatal(err)
	}
	again, err := check.ParseFixture(composed.Text)
	if err != nil || again.Assurances != calls[0].Assurances || !calls[0].Elsewhere || !again.Elsewhere {
		t.Errorf("%v\n%s", err, composed.Text)
	}
}
