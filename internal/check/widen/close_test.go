package widen

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// A folder is closed in every argument and to commands that name it, nothing beside it is, and nothing
// opens.
func TestCloseFolder(t *testing.T) {
	slow.Test(t)
	for _, starter := range []string{"filesystem", "coding-agent", "git", "relaxed"} {
		src, err := fixtures.ReadProfile(starter)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{File: "p.toml", Parse: policy.Options{Home: "/home/u", Disk: disk.PlainDisk()}, Folder: "~/projects/my.secret", Comment: "# Note.\n"}
		c, err := CloseFolder(src, o, "/srv/real")
		if err != nil {
			t.Fatalf("%s: %v", starter, err)
		}
		if strings.Replace(string(c.Next), c.Text+"\n", "", 1) != string(src) {
			t.Errorf("%s: more than the rules changed", starter)
		}
		var changes []diff.Change
		if starter == "git" { // the comparison of the larger ones takes long
			changes = diff.ComparePolicies(c.Old, c.New).Changes
		}
		for _, change := range changes {
			if change.Kind != diff.NewlyDenied {
				t.Errorf("%s: %s: %s %s", starter, change.Kind, change.Example.Names, change.Example.Args)
			}
		}
		for args, shut := range map[string]bool{
			`{"path":"/home/u/projects/my.secret"}`:                       true,
			`{"path":"~/projects/my.secret/a/b"}`:                         true,
			`{"path":"/home/u/projects/x/../my.secret/a"}`:                true,
			`{"file":{"of":["/srv/real/a"]}}`:                             true,
			`{"command":"cat ~/projects/my.secret/a"}`:                    true,
			`{"command":"ls -la\ncat \"$HOME/projects/my.secret\"/a"}`:    true,
			`{"command":"tar --file=/home/u/projects/my.secret.tar"}`:     false,
			`{"command":"rm -rf '/srv/real'"}`:                            true,
			`{"path":"/home/u/projects/my.secrets/a"}`:                    false,
			`{"path":"/home/u/projects/my_secret/a"}`:                     false,
			`{"command":"cat ~/projects/my_secret/a /data/srv/real.txt"}`: false,
			`{"content":"see ~/projects/my.secret"}`:                      false,
		} {
			d := c.New.Decide(&policy.Call{Server: "x", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"a_tool"}, Args: []byte(args), Screened: true})
			if by := d.Rule != nil && d.Rule.Index < 2; by != shut || shut && d.Action != policy.Deny {
				t.Errorf("%s: %s: %v", starter, args, d)
			}
		}
		if starter != "relaxed" && len(c.Changes) == 0 {
			t.Errorf("%s: no call shows what is closed", starter)
		}
		for i := range c.Changes {
			if call := c.Changes[i].Example; c.Old.Decide(call).Action == policy.Deny || c.New.Decide(call).Action != policy.Deny {
				t.Errorf("%s: %s %s shows nothing", starter, call.Names, call.Args)
			}
		}
	}
}

// To open a closed folder again shows what its closing showed.
func TestShowReopened(t *testing.T) {
	src, err := fixtures.ReadProfile("filesystem")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"", "files"} {
		c, err := CloseFolder(src, Options{File: "p.toml", Parse: policy.Options{Home: "/home/u"}, Folder: "~/projects/a", Server: server}, "/srv/real")
		if err != nil {
			t.Fatal(err)
		}
		opened := ShowReopened(c.New, c.Old)
		if len(c.Changes) == 0 || len(opened) != len(c.Changes) {
			t.Fatalf("%q: %d calls are closed, and %d are opened", server, len(c.Changes), len(opened))
		}
		for i, o := range opened {
			if was := c.Changes[i]; string(o.Example.Args) != string(was.Example.Args) || o.Old != was.New || o.New != was.Old ||
				o.Kind != diff.KindOf(was.New, was.Old) || c.New.Decide(o.Example).Action != policy.Deny {
				t.Errorf("%q: %+v was %+v", server, o, was)
			}
		}
		if all := ShowReopened(c.Old, c.New); len(all) > 0 {
			t.Errorf("%q: to close shows %+v", server, all)
		}
	}
}

// For one server it holds for that server alone.
func TestCloseFolderOfAServer(t *testing.T) {
	src := []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	c, err := CloseFolder(src, Options{File: "p.toml", Folder: "/srv/a", Server: "one"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]policy.Action{"one": policy.Deny, "two": policy.Allow} {
		call := policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"t"}, Args: []byte(`{"path":"/srv/a/b"}`), Screened: true}
		if d := c.New.Decide(&call); d.Action != want {
			t.Errorf("%s: %v", server, d.Action)
		}
	}
}
