package bundled_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check/bundled"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/policy"
)

func try(t *testing.T, files ...bundle.File) (*bundled.Outcome, error) {
	t.Helper()
	src, err := bundle.Write(bundle.Bundle{Counter: 1, Created: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.ReadUnsigned(src)
	if err != nil {
		t.Fatal(err)
	}
	return bundled.Try(nil, &b, "policy.toml", policy.Options{Home: "/root", OS: runtime.GOOS}, packs.ParsePack)
}

func rules(text string) bundle.File { return bundle.File{Name: "policy.toml", Text: []byte(text)} }

func fixture(name, text string) bundle.File {
	return bundle.File{Name: "fixtures/" + name, Text: []byte(text)}
}

func TestFixturesAreJudgedByTheBundleAlone(t *testing.T) {
	const push = "[[rule]]\naction = \"deny\"\ntool = \"*push*\"\n[[rule]]\naction = \"prompt\"\nresource = \"file:///home/**\"\n[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"~/.ssh/**\"\n"
	out, err := try(t, rules(push),
		fixture("push.json", `{"method":"tools/call","params":{"name":"git_push","arguments":{}},"expected":"deny"}`),
		fixture("pull.json", `{"method":"tools/call","params":{"name":"git_pull","arguments":{}},"expected":"allow"}`),
		fixture("read.json", `{"method":"resources/read","params":{"uri":"file:///home/x"},"expected":"prompt"}`),
		fixture("other.json", `{"method":"resources/read","params":{"uri":"https://a.example/x/y"},"expected":"allow"}`),
		fixture("prompt.json", `{"method":"prompts/get","params":{"name":"a/b"},"expected":"allow"}`),
		fixture("task.json", `{"method":"tasks/get","params":{"taskId":"1"},"expected":"allow"}`),
		fixture("home.json", `{"method":"tools/call","params":{"name":"read","arguments":{"path":"/home/user/.ssh/id"}},"expected":"deny"}`),
	)
	if err != nil || out.Err() != nil || out.Summary.AsExpected != 7 {
		t.Fatalf("%+v %v", out, err)
	}
	out, err = try(t, rules(push),
		fixture("a.json", `{"method":"tools/call","params":{"name":"git_push","arguments":{}},"expected":"allow"}`),
		fixture("b.json", `{"method":`),
		fixture("c.json", `{"method":"tools/call","params":{"name":"x","arguments":{}},"expected":"deny"}`))
	if err != nil || len(out.Problems) != 3 || out.Err() == nil || !strings.Contains(out.Err().Error(), "fixtures/a.json gets deny, expected allow; 2 more fail") {
		t.Fatalf("%+v %v", out, err)
	}
}

func TestPolicyMustLoadAsALayer(t *testing.T) {
	for _, text := range []string{"", "[[rule]]\naction = \"deny\"\n", "[[rule]]\naction = \"deny\"\ntool = \"*\"\ncommand = \"sh\"\n", "[[upstream]]\ncommand = [\"sh\"]\n", "[ask]\norder = [\"terminal\"]\n"} {
		if out, err := try(t, rules(text)); err == nil && text != "" {
			t.Errorf("%q loads: %+v", text, out)
		}
	}
}

func TestPacksAreThoseOfTheBundle(t *testing.T) {
	_, err := try(t, rules("packs = [\"words.toml\"]\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n"), bundle.File{Name: "words.toml", Text: []byte("x")})
	if err == nil || !strings.Contains(err.Error(), "words.toml") {
		t.Fatalf("a pack that does not load: %v", err)
	}
}
