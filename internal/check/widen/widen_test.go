package widen

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/testing/rulemix"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func options(server string, write bool) Options {
	return Options{File: "p.toml", Parse: policy.Options{Home: rulemix.Home, Disk: disk.PlainDisk()}, Folder: "~/data", Server: server, Write: write, Comment: "# Written.\n"}
}

const (
	shut = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = [\"**/.env\", \"**/.git/**\"]\n\n"
	rest = "[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
)

// The rules about a folder are copied: to a place where no denial stands below, and not those that
// say nothing of a further folder.
func TestOpenFolder(t *testing.T) {
	rule := func(lines string) string { return "[[rule]]\n" + lines + "\n\n" }
	read := rule("action = \"allow\"\ntool = \"read_*\"\nargs.path = \"~/projects/**\"\nargs_only = true")
	write := rule("action = \"prompt\"\ntool = \"write_file\"\nargs.path = \"~/projects/**\"\ndescription = \"Ask\"")
	readCopy := "[[rule]]\naction = \"allow\"\ntool = \"read_*\"\nargs.path = [\"~/data\", \"~/data/**\"]\nargs_only = true\n"
	for _, c := range []struct {
		name, src, server string
		write             bool
		want              []string // what the rules hold
		not               string   // what they do not hold
		below             string   // what stands above the first of them
	}{
		{"reading", shut + read + write + rest, "", false, []string{"# Written.\n" + readCopy}, "write_file", "args_only = true\n\n"},
		{"writing is asked about as in the other folder", shut + read + write + rest, "", true,
			[]string{"action = \"prompt\"\ntool = \"write_file\"\nargs.path = \"~/data/**\"\ndescription = \"Ask, also in ~/data\"\n"}, "", ""},
		{"below a denial", read + shut + rest, "", false, []string{readCopy}, "", ".git/**\"]\n\n"},
		{"an agent's tool has two names", shut + rule("action = \"allow\"\ntool = \"read\"\nargs.path = \"~/projects/**\"") +
			rule("action = \"deny\"\ntool = \"Read\"\nargs.file_path = \"**/*.txt\"") + rest, "", false, []string{"tool = \"read\""}, "", "**/*.txt\"\n\n"},
		{"one server", shut + read + rest, "files", false, []string{"server = \"files\""}, "", ""},
		{"an answer of always says nothing of it", shut + rule("action = \"allow\"\ntool = \"write_file\"\nargs.path = \"~/projects/a/**\"") + write + rest, "", true,
			[]string{"action = \"prompt\""}, "allow", ""},
		{"a rule that asks inside a folder says nothing of it either", shut + rule("action = \"prompt\"\ntool = \"write_file\"\nargs.path = \"~/projects/a/**\"") + rule("action = \"allow\"\ntool = \"write_file\"\nargs.path = \"~/projects/**\"") + rest, "", true,
			[]string{"action = \"allow\""}, "prompt", ""},
		{"two rules, of which one asks", shut + rule("action = \"allow\"\ntool = \"write_file\"\nargs.path = \"~/x/**\"") + write + rest, "", true,
			[]string{"action = \"prompt\""}, "allow", ""},
		{"links", shut + rule("action = \"allow\"\ntool = \"read_file\"\nargs.path = \"~/projects/**\"\nwhere.path.under = [\"~/projects\"]") + rest, "", false,
			[]string{"where.path.under = [\"~/data\"]"}, "~/projects", ""},
		{"the end of a file without a last rule", shut + read, "", false, []string{readCopy}, "", "args_only = true\n\n"},
		{"a list of folders", shut + rule("action = \"allow\"\ntool = \"read_file\"\nargs.path = [\"~/projects/**\", \"/usr/include/**\", \"/usr/lib/x*/**\"]") + rest, "", false,
			[]string{"args.path = [\"~/data\", \"~/data/**\"]"}, "usr", ""},
		{"keys that no rule shuts", read + rest, "", false, []string{"not.args.path = [\"**/.ssh\"", "\"**/.env*\""}, "", ""},
	} {
		op, err := OpenFolder([]byte(c.src), options(c.server, c.write))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(op.Text, want) {
				t.Errorf("%s: %s\nis not in\n%s", c.name, want, op.Text)
			}
		}
		if c.not != "" && strings.Contains(op.Text, c.not) {
			t.Errorf("%s: %s is in\n%s", c.name, c.not, op.Text)
		}
		if !strings.Contains(string(op.Next), c.below+"# Written.") {
			t.Errorf("%s: the rules do not stand below %s\n%s", c.name, c.below, op.Next)
		}
		if len(op.Changes) == 0 || strings.Split(string(op.Next), "\n")[op.Line-1] != "# Written." {
			t.Errorf("%s: changes %v, line %d", c.name, op.Changes, op.Line)
		}
	}
}

func TestOpenFolderRefuses(t *testing.T) {
	for want, src := range map[string]string{
		"no rule of the policy says of a folder that any tool reads in it": rest,
		"invalid TOML":                       "[[rul",
		"already what it says of the others": "[[rule]]\naction = \"allow\"\ntool = \"read_file\"\nargs.path = \"~/**\"\n" + rest,
		"no rule of the policy says":         "[[rule]]\naction = \"allow\"\ntool = \"run_file\"\nargs.path = \"~/projects/**\"\n",
	} {
		if op, err := OpenFolder([]byte(src), options("", false)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, op, err)
		}
	}
}

// Nothing that a rule denies is opened, nothing outside the folder changes, and what is shown as a
// change changes.
func TestNothingThatIsDeniedOpens(t *testing.T) {
	slow.Test(t)
	opened, calls := 0, rulemix.ListCalls()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same policies each time
		src := rulemix.WritePolicy(r)
		o := options([]string{"", "files"}[r.IntN(2)], r.IntN(2) == 0)
		op, err := OpenFolder([]byte(src), o)
		if err != nil {
			continue
		}
		opened++
		sources := op.Old.Sources()
		last := sources[len(sources)-1]
		for i := range calls {
			c := &calls[i]
			was, is := op.Old.Decide(c), op.New.Decide(c)
			if was.Action == is.Action {
				continue
			}
			if was.Action == policy.Deny && was.Rule != nil && !(last.RefusesTheRest() && *was.Rule == last.Rule) {
				t.Fatalf("%s\n%s on %q %s was denied by %q and is %v", op.Next, c.Names, c.Server, c.Args, was.Rule.Description, is.Action)
			}
			if !strings.Contains(string(c.Args), "data") || strings.Contains(string(c.Args), "..") {
				t.Fatalf("%s\n%s %s lies elsewhere and was %v, is %v", op.Next, c.Names, c.Args, was.Action, is.Action)
			}
			if o.Server != "" && c.Server != o.Server {
				t.Fatalf("%s\n%s on %q %s was %v, is %v", op.Next, c.Names, c.Server, c.Args, was.Action, is.Action)
			}
			if is.Action == policy.Allow && (strings.Contains(string(c.Args), ".env") || strings.Contains(string(c.Args), ".git/") || strings.Contains(string(c.Args), ".key")) {
				t.Fatalf("%s\n%s %s is opened", op.Next, c.Names, c.Args)
			}
		}
		for i := range op.Changes {
			if c := &op.Changes[i]; op.Old.Decide(c.Example).Action == op.New.Decide(c.Example).Action {
				t.Errorf("%s\n%s %s does not change", op.Next, c.Example.Names, c.Example.Args)
			}
		}
	}
	if opened < 50 {
		t.Errorf("only %d policies have a folder", opened)
	}
}

// In the starters, what is denied by a rule of its own in ~/projects is denied in the other folder.
func TestStartersKeepTheirDenials(t *testing.T) {
	slow.Test(t)
	for _, name := range []string{"filesystem", "coding-agent", "git"} {
		src, err := fixtures.ComposePolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		op, err := OpenFolder(src, options("", true))
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Contains(op.Text, "not.args") {
			t.Errorf("%s: the starter shuts the keys itself\n%s", name, op.Text)
		}
		paths, err := check.FindFixtures(filepath.Join("../../../fixtures", name))
		if err != nil || len(paths) == 0 {
			t.Fatal(err)
		}
		denied := 0
		for _, path := range paths {
			fx, err := check.ReadFixture(path)
			if err != nil {
				t.Fatal(err)
			}
			if fx.JudgedMessage() != policy.OnCall {
				continue
			}
			there := fx
			there.Params = []byte(strings.ReplaceAll(strings.ReplaceAll(string(fx.Params), "~/projects", "~/data"), rulemix.Home+"/projects", rulemix.Home+"/data"))
			was, is := check.JudgeFixture(op.Old, there, ""), check.JudgeFixture(op.New, there, "")
			if was.Action == policy.Deny && was.Rule != nil && was.Rule.Description != "Everything else is refused" {
				denied++
				if is.Action != policy.Deny {
					t.Errorf("%s: %v in the other folder", path, is.Action)
				}
			}
			if in := check.JudgeFixture(op.Old, fx, ""); is.Action > in.Action && is.Action != was.Action {
				t.Errorf("%s: %v in the other folder, and %v in ~/projects", path, is.Action, in.Action)
			}
		}
		if denied == 0 {
			t.Errorf("%s: no fixture is denied", name)
		}
	}
}

func TestCheckFolder(t *testing.T) {
	own := []string{"/home/user/.config/clawai", "/home/user/.local/state/clawai"}
	for folder, want := range map[string]string{
		"/home/user/data": "", "/srv/data": "", "/home/user/.config/nvim": "",
		"/home/user": "your home folder", "/home": "your home folder", "/": "your home folder", "/srv/a*": "no rule can have",
		"/home/user/.ssh": "secrets", "/home/user/.aws/x": "secrets", "/srv/.env": "secrets",
		"/home/user/.config": "clawai's own", "/home/user/.config/clawai/x": "clawai's own", "/home/user/.local": "clawai's own",
	} {
		err := CheckFolder(folder, "/home/user", own)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", folder, err, want)
		}
	}
}

func TestMeet(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"read_*", "read_file", true}, {"read_*", "write", false}, {"read_*", "write_*", false},
		{"*_file", "read_*", true}, {"read_*", "read_text_*", true}, {"*", "x", true},
	} {
		if meet(c.a, c.b) != c.want || meet(c.b, c.a) != c.want {
			t.Errorf("%s and %s: not %v", c.a, c.b, c.want)
		}
	}
	if got := []string{sampleName("read_*"), sampleName("list_directory*"), sampleName("*"), sampleName("?x")}; !slices.Equal(got, []string{"read_file", "list_directory", "file", "?x"}) {
		t.Error(got)
	}
}
