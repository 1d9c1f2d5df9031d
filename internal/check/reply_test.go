package check_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy"
)

// The kinds that rules can name are those that are found.
func TestKindsAreThoseOfTheDetectors(t *testing.T) {
	rules, found := policy.FindingKinds(), append(inspect.KindWords(), reply.Marker, reply.Fence, reply.Schema, reply.Link)
	slices.Sort(rules)
	slices.Sort(found)
	if !slices.Equal(rules, found) {
		t.Errorf("rules name %v\nfound are %v", rules, found)
	}
}

// What people write rules about replies for (docs/policy.md), each with what it stops and
// what it lets go on.
var replyPolicies = map[string]struct{ rules, fixtures string }{
	"nobody needs invisible text": {`
[[rule]]
action = "deny"
on = "reply"
tool = "*"
find = ["hidden"]
`, `
deny: {"method":"tools/call","params":{"name":"fetch"},"result":{"content":[{"type":"text","text":"a\udb40\udc61b"}]}}
allow: {"method":"tools/call","params":{"name":"fetch"},"result":{"content":[{"type":"text","text":"plain"}]}}
deny: {"method":"tools/call","params":{"name":"fetch"},"result":{"content":[]},"finds":["hidden"]}
`},
	"secrets do not come in, and do not go out, but for one folder": {`
[[rule]]
action = "allow"
on = "reply"
tool = "read_file"
args.path = "~/projects/app/testdata/**"
find = ["secret"]

[[rule]]
action = "redact"
on = "reply"
tool = "*"
find = ["secret"]

[[rule]]
action = "deny"
tool = "*"
find = ["secret"]

[[rule]]
action = "allow"
tool = "*"
`, `
redact: {"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/etc/a"}},"result":{"content":[{"type":"text","text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}]}}
allow: {"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/testdata/a"}},"result":{"content":[{"type":"text","text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}]}}
redact: {"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/testdata/../a"}},"result":{"content":[{"type":"text","text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}]}}
deny: {"method":"tools/call","params":{"name":"post","arguments":{"text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}}
allow: {"method":"tools/call","params":{"name":"post","arguments":{"text":"hello"}}}
deny: {"method":"tools/call","params":{"name":"post","arguments":{"text":"hello"}},"finds":["secret"]}
`},
	"the web is a stranger": {`
[[rule]]
action = "fence"
on = "reply"
tool = "fetch*"

[[rule]]
action = "prompt"
on = "reply"
tool = "fetch*"
find = ["encoded", "comment"]
description = "A page that seems to talk to the agent: look first"
`, `
fence: {"method":"tools/call","params":{"name":"fetch_page"},"result":{"content":[{"type":"text","text":"news"}]}}
prompt: {"method":"tools/call","params":{"name":"fetch_page"},"result":{"content":[{"type":"text","text":"<!-- a note that no reader of the page will ever see -->"}]}}
allow: {"method":"tools/call","params":{"name":"read_file"},"result":{"content":[{"type":"text","text":"<!-- a note that no reader of the page will ever see -->"}]}}
`},
	"card numbers stay in the shop": {`
[[rule]]
action = "redact"
on = "reply"
tool = "*"
server = "shop"
find = ["card", "iban"]
`, `
redact: {"method":"tools/call","server":"shop","params":{"name":"order"},"result":{"content":[{"type":"text","text":"4539 1488 0343 6467"}]}}
allow: {"method":"tools/call","server":"bank","params":{"name":"order"},"result":{"content":[{"type":"text","text":"4539 1488 0343 6467"}]}}
redact: {"method":"tools/call","params":{"name":"order"},"result":{"content":[{"type":"text","text":"4539 1488 0343 6467"}]}}
`},
	"what a server may show": {`
[[rule]]
action = "deny"
on = "list"
tool = "*"
find = ["hidden"]

[[rule]]
action = "deny"
on = "list"
tool = "delete_*"
server = "github"

[[rule]]
action = "prompt"
on = "list"
resource = "file:///**"
`, `
deny: {"method":"tools/list","server":"github","list":{"name":"delete_repo","description":"Deletes"}}
allow: {"method":"tools/list","server":"files","list":{"name":"delete_repo","description":"Deletes"}}
deny: {"method":"tools/list","server":"files","list":{"name":"read","description":"a\u200bb"},"finds":["hidden"]}
prompt: {"method":"resources/list","server":"files","list":{"uri":"file:///etc/a","name":"a"}}
allow: {"method":"prompts/list","server":"files","list":{"name":"review"}}
`},
	"a server's wish to use my model": {`
[[rule]]
action = "deny"
sampling = "**"
find = ["secret"]

[[rule]]
action = "redact"
sampling = "**"
find = ["card"]

[[rule]]
action = "prompt"
sampling = "**"
`, `
deny: {"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}]}}
prompt: {"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"4539 1488 0343 6467"}}]}}
prompt: {"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}}
`},
	"answers that were looked at": {`
[[rule]]
action = "deny"
on = "reply"
tool = "*"
server = "ledger"
find = ["unscreened"]
`, `
deny: {"method":"tools/call","server":"ledger","params":{"name":"book"},"result":{"content":[]},"finds":["unscreened"]}
`},
}

func TestReplyFixtures(t *testing.T) {
	for name, c := range replyPolicies {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Parse("p.toml", []byte(c.rules), policy.Options{Home: "/home/user"})
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(strings.TrimSpace(c.fixtures)) {
				want, src, _ := strings.Cut(strings.TrimSpace(line), ": ")
				fx, err := check.ParseFixture([]byte(strings.TrimSuffix(src, "}") + `,"expected":"` + want + `"}`))
				if err != nil {
					t.Fatalf("%v\n%s", err, src)
				}
				if r := check.JudgeFixture(p, fx, ""); r.IsMismatch() || r.Err != nil {
					t.Errorf("%s, want %s: %s %v\n%s", r.Action, want, check.ExplainResult(r), r.Finds, src)
				}
			}
		})
	}
}

func TestReplyFixturesRefused(t *testing.T) {
	for src, want := range map[string]string{
		`{"method":"tools/call","result":"x"}`:                             `"result" is not an object`,
		`{"method":"tools/list","list":{},"result":{}}`:                    `"list", "result" or "upload" beside another`,
		`{"method":"tools/call","finds":"secret"}`:                         `"finds" is not a list`,
		`{"method":"tools/call","finds":["secrets"]}`:                      `"finds": "secrets" is not a kind`,
		`{"method":"tools/call","params":{"name":"a"},"expected":"fence"}`: `unknown action "fence" (one of allow, deny, prompt)`,
		`{"method":"tools/list","list":{"name":"a"},"expected":"fence"}`:   `unknown action "fence" (one of allow, redact, prompt, deny)`,
		`{"expected":"","method":"tools/call"}`:                            `unknown action ""`,
	} {
		if _, err := check.ParseFixture([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
	p, err := policy.Parse("p", []byte("[[rule]]\naction = 'deny'\non = 'list'\ntool = 'x'\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{`{"method":"tools/call","list":{"name":"x"}}`, `{"method":"tools/list","list":{"title":"x"}}`, `{"method":"tools/call","params":{"name":"a","name":"b"},"result":{}}`} {
		fx, err := check.ParseFixture([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if r := check.JudgeFixture(p, fx, ""); !r.Refused || r.Action != policy.Deny {
			t.Errorf("%s: %+v", src, r)
		}
	}
}

// The fixtures of the page get what they expect from its policies.
func TestRepliesPageFixtures(t *testing.T) {
	page, err := os.ReadFile("../../docs/replies.md")
	if err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	judged := 0
	blocks := regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, b := range blocks {
		if b[1] == "toml" {
			rules.WriteString(b[2] + "\n")
		}
	}
	p, err := policy.Parse("p.toml", []byte(rules.String()), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b[1] != "json" {
			continue
		}
		fx, err := check.ParseFixture([]byte(b[2]))
		if err != nil {
			t.Fatalf("%v\n%s", err, b[2])
		}
		if r := check.JudgeFixture(p, fx, ""); r.IsMismatch() || fx.Expected == nil {
			t.Errorf("%s: %s\n%s", r.Action, check.ExplainResult(r), b[2])
		}
		judged++
	}
	if judged < 2 {
		t.Errorf("%d fixtures", judged)
	}
}
