package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const cageText = `
[server.files.sandbox]
level = "try"
read = ["~/.config/gh", "~/projects/**", "${cwd}/a/", "/**"]
write = ["./", "./.cache", "."]
hide = ["~/projects/x"]
net = ["*"]
env = ["PATH", "GITHUB_TOKEN"]
exec = false

[server.files]
pin = "ask"

[server."a b".sandbox]
level = "enforce"
net = []
exec = true
`

var onlyCages = cmpopts.IgnoreFields(CageTable{}, "Pos", "text")

func TestCages(t *testing.T) {
	p := trustPolicy(t, cageText, Options{})
	files := CageTable{Server: "files", Level: CageTry, Read: []string{"~/.config/gh", "~/projects", "${cwd}/a", "/"},
		Write: []string{"${cwd}", "${cwd}/.cache", "${cwd}"}, Hide: []string{"~/projects/x"}, Net: []string{AnyHost}, Env: []string{"PATH", "GITHUB_TOKEN"}, Exec: No}
	ab := CageTable{Server: "a b", Level: CageEnforce, Net: []string{}, Exec: Yes}
	if diff := cmp.Diff([]CageTable{files, ab}, p.CageTables(), onlyCages); diff != "" {
		t.Error(diff)
	}
	if got := p.CageTables()[1]; got.String() != `[server."a b".sandbox] level = "enforce" net = [] exec = true` || got.Level.String() != "enforce" {
		t.Error(got.String())
	}
	for server, want := range map[string]CageLevel{"files": CageTry, "a b": CageEnforce, "other": 0, "": 0} {
		if got := p.CageLevel(server); got != want {
			t.Errorf("%q: %v", server, got)
		}
	}
	if p.forSystem(Windows).CageLevel("files") != CageTry {
		t.Error("the policy for Windows has no cages")
	}
}

// A layer only adds tables, so the level is never laxer than what one of them says.
func TestCagesOfLayers(t *testing.T) {
	org := trustPolicy(t, "[server.files.sandbox]\nlevel = \"enforce\"\nwrite = []\n", Options{Layer: "organisation"})
	p := trustPolicy(t, cageText, Options{Above: []*Policy{org}})
	all := p.Cages("files")
	if len(all) != 2 || all[0].Layer != "" || all[1].Layer != "organisation" || p.CageLevel("files") != CageEnforce {
		t.Errorf("%+v", all)
	}
	lax := trustPolicy(t, "[server.files.sandbox]\nlevel = \"off\"\n", Options{Layer: "organisation"})
	if p := trustPolicy(t, cageText, Options{Above: []*Policy{lax}}); p.CageLevel("files") != CageTry {
		t.Error("a layer made the cage laxer")
	}
}

func TestCagesOfExtendedTexts(t *testing.T) {
	extend := func(Extension) (string, []byte, error) {
		return "base.toml", []byte("[server.files.sandbox]\nlevel = \"off\"\n[server.more.sandbox]\nlevel = \"enforce\"\n"), nil
	}
	p := trustPolicy(t, "extends = [\"profile:base\"]\n"+cageText, Options{Extend: extend})
	if p.CageLevel("files") != CageTry || p.CageLevel("more") != CageEnforce || p.CageTables()[3].From != "profile:base" {
		t.Errorf("%+v", p.CageTables())
	}
}

func TestCageLost(t *testing.T) {
	p, without := trustPolicy(t, cageText, Options{}), trustPolicy(t, "", Options{})
	if c := p.ChangeTo(without); c.Lost != 3 || !c.Loosens {
		t.Errorf("%+v", c)
	}
	if c := p.ChangeTo(trustPolicy(t, strings.Replace(cageText, "exec = false", "exec = true", 1), Options{})); c.Lost != 1 || !c.Loosens {
		t.Errorf("%+v", c)
	}
	if c := without.ChangeTo(p); c.Lost != 0 || !c.Loosens {
		t.Errorf("%+v", c)
	}
}

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]string{"/a/**": "/a", "./x": "${cwd}/x", ".": "${cwd}", "~/k/": "~/k"} {
		if got, err := ParsePlace(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "/a/*", "/a/../b"} {
		if got, err := ParsePlace(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestWrongCages(t *testing.T) {
	const head = "[server.x.sandbox]\nlevel = \"try\"\n"
	for text, want := range map[string]string{
		"[server.x.sandbox]\n":                   `p.toml:1:1: [server.x.sandbox] without a level (write [server.NAME.sandbox], and below it level = "enforce")`,
		"[[server.x.sandbox]]\n":                 "p.toml:1:1: [[server]] must be [server.NAME]",
		head + head:                              "p.toml:3:1: the table is given twice (the first is on line 1)",
		head + "level = \"off\"":                 "level is given twice",
		head + "reed = []":                       `unknown key "reed" in [server.x.sandbox] (did you mean "read"?)`,
		head + "read.x = []":                     "read is not a table",
		"[server.x.sandbox]\nlevel = 1":          "level must be a string, not a number",
		"[server.x.sandbox]\nlevel = ''":         `unknown level ""`,
		"[server.x.sandbox]\nlevel = 'enforced'": `unknown level "enforced" (did you mean "enforce"?)`,
		head + "exec = 'no'":                     "exec must be true or false, not a string",
		head + "read = '~'":                      "read must be a list of strings, not a string",
		head + "read = [1]":                      "read must be a list of strings, not of a number",
		head + "read = ['~/*/x']":                `read: "~/*/x" is a glob: write the directory alone, everything below it counts`,
		head + "hide = ['**/.env']":              `hide: "**/.env" is a glob`,
		head + "read = ['projects']":             `read: "projects" does not say where it begins`,
		head + "read = ['']":                     `read: "" does not say where it begins`,
		head + "read = ['~/a/../..']":            `read: "~/a/../.." leads out of its folder by ..`,
		head + "write = ['~/']":                  `write: "~/" holds files that your shell and your programs run`,
		head + "write = ['/**']":                 `write: "/**" holds files that your shell`,
		head + "net = ['https://x.org']":         `net: "https://x.org" is not a host: port that parsers read differently (write "api.example.com", "*.example.com", "example.com:8443" or an address, without scheme and path)`,
		head + "net = ['x.org.']":                `net: "x.org." is not a host: the name ends in a dot`,
		head + "net = ['x.org', '*']":            `net: "*" already means every host, so write nothing else in the list`,
		head + "env = ['LC_*']":                  `env: "LC_*" is not the name of a variable`,
		head + "env = ['']":                      `env: "" is not the name of a variable`,
		head + "env = ['1A']":                    `env: "1A" is not the name of a variable`,
		"[server.x]\nsandbox.level = 'try'":      "sandbox is a table of its own (write [server.x.sandbox])",
		"[server.x.sandbox.more]\n":              `unknown table "server.x.sandbox.more"`,
	} {
		_, err := Parse("p.toml", []byte(text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}
