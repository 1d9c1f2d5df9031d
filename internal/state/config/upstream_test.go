package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func loadHub(t *testing.T, text string, vars map[string]string) (Hub, string, error) {
	t.Helper()
	dir := folder(t)
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := LoadHub(Folders{Config: dir, Home: "/home/u"}, func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	return h, dir, err
}

func TestLoadHub(t *testing.T) {
	h, dir, err := loadHub(t, `
[ask]
timeout = "9s"
[hub]
prefix_descriptions = false
list_wait = "10s"
session_idle = "2h"
[upstream.zoo]
command = ["npx", "-y"]
args = ["server", "$DIR/x", "$$"]
env = { TOKEN = "${TOKEN}", PLAIN = "p" }
cwd = "sub"
tools = ["read_*"]
hide = ["read_all"]
idle = "0s"
timeout = "5s"
bare = true
[upstream.fs]
command = "fs"
cwd = "~/x"
alias = "f"
disabled = true
[upstream.api]
url = "https://h.example/$DIR"
headers = { Authorization = "Bearer $MISSING" }
`, map[string]string{"DIR": "d", "TOKEN": "$DIR"})
	if err != nil {
		t.Fatal(err)
	}
	if h.PrefixDescriptions || h.ListWait != 10*time.Second || h.SessionIdle != 2*time.Hour || len(h.Servers) != 3 {
		t.Fatalf("%+v", h)
	}
	zoo, fs, api := h.Servers[0], h.Servers[1], h.Servers[2] // in the file's order
	if zoo.ID != "zoo" || zoo.Prefix != "" || !slices.Equal(zoo.Command, []string{"npx", "-y", "server", "d/x", "$"}) ||
		zoo.Env["TOKEN"] != "$DIR" || zoo.Dir != filepath.Join(dir, "sub") || zoo.Idle != 0 || zoo.Timeout != 5*time.Second ||
		len(zoo.Tools) != 1 || len(zoo.Hide) != 1 || zoo.Unusable != nil {
		t.Errorf("%+v", zoo)
	}
	if fs.ID != "fs" || fs.Prefix != "f" || fs.Dir != filepath.Join("/home/u", "x") || !fs.Disabled || fs.Idle != defaultIdle || fs.Timeout != defaultTimeout {
		t.Errorf("%+v", fs)
	}
	if api.URL != "https://h.example/d" || api.Unusable == nil || api.Unusable.Error() != "headers.Authorization: the variable MISSING is not set" {
		t.Errorf("%+v", api)
	}
}

func TestLoadHubWithoutFile(t *testing.T) {
	h, err := LoadHub(Folders{Config: folder(t)}, os.LookupEnv)
	if err != nil || len(h.Servers) != 0 || !h.PrefixDescriptions {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestLoadHubRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"[upstream.A]\ncommand = 'x'":                                                  `:2: upstream.A: "A" holds something other`,
		"[upstream.a__b]\ncommand = 'x'":                                               `holds __`,
		"[upstream.a]\ncommand = 'x'\nalias = 'B'":                                     `"B" holds`,
		"[upstream.a]":                                                                 `upstream.a: it needs a command`,
		"[upstream.a]\ncommand = ''":                                                   `it needs a command`,
		"[upstream.a]\ncommand = 'x'\nurl = 'https://h'":                               `and not both`,
		"[upstream.a]\ncommand = [1]":                                                  `command: it is a list of texts`,
		"[upstream.a]\ncommand = 1":                                                    `command: it is a text or a list`,
		"[upstream.a]\nurl = 'https://h'\nargs = ['x']":                                `args, env and cwd are for a command`,
		"[upstream.a]\ncommand = 'x'\nheaders = { A = 'b' }":                           `headers are for a url`,
		"[upstream.a]\ncommand = 'x'\ntype = 'sse'":                                    `type is what a url speaks`,
		"[upstream.a]\nurl = 'https://h'\ntype = 'ws'":                                 `type is what a url speaks`,
		"[upstream.a]\ncommand = 'x'\nidle = 'soon'":                                   `idle: "soon" is not a time`,
		"[upstream.a]\ncommand = 'x'\ntimeout = '0s'":                                  `timeout: "0s" is not a time`,
		"[upstream.a]\ncommand = 'x'\ntools = ['']":                                    `tools: "" is not a pattern`,
		"[upstream.a]\ncomand = 'x'":                                                   `:2:1: "upstream.a.comand" is not a setting; did you mean "command"?`,
		"[upstream.a]\ncommand = 'x'\n[upstream.b]\ncommand = 'y'\nalias = 'a'":        `:4: upstream.b: "a" is what the tools of upstream.a begin with`,
		"[upstream.a]\ncommand = 'x'\nalias='c'\n[upstream.b]\ncommand='y'\nalias='c'": `"c" is what`,
		"[upstream.a]\ncommand='x'\nbare=true\n[upstream.b]\ncommand='y'\nbare=true":   `:5: upstream.b: upstream.a is bare, too`,
		"[upstream.a]\ncommand='x'\nalias='c'\nbare=true":                              `keep one of them`,
		"[hub]\nprefix_description = true":                                             `"hub.prefix_description" is not a setting; did you mean "prefix_descriptions"?`,
		"[hub]\nlist_wait = 'soon'":                                                    `:2: hub.list_wait: "soon" is not a time`,
		"[hub]\nlist_wait = '0s'":                                                      `"0s" is not a time`,
		"[hub]\nsession_idle = '-1m'":                                                  `:2: hub.session_idle: "-1m" is not a time`,
		"[hubb]\n":                                                                     `did you mean "hub"?`,
	} {
		if _, _, err := loadHub(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	h, _, err := loadHub(t, "", nil)
	if err != nil || len(h.Servers) > 0 {
		t.Error(err)
	}
}
