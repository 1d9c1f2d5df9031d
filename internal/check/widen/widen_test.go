package widen

import (
	"math/rand/v2"
	"os"
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
		"no rule of the policy lets any tool read in a folder": rest,
		"invalid TOML": "[[rul",
		"treats this folder like its other folders": "[[rule]]\naction = \"allow\"\ntool = \"read_file\"\nargs.path = \"~/**\"\n" + rest,
		"no rule of the policy lets":                "[[rule]]\naction = \"allow\"\ntool = \"run_file\"\nargs.path = \"~/projects/**\"\n",
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
	opened, calls, policies := 0, rulemix.ListCalls(), slow.Rounds(90, 1000)
	for seed := range uint64(policies) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same policies each time
		src := rulemix.WritePolicy(r)
		named := seed%2 == 1
		if named {
			src = "[folders]\nprojects = [\"~/projects\"]\n\n" + strings.ReplaceAll(src, "\"~/projects", "\"${projects}")
		}
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
			if was.Action == is.Action || named && is.Action < was.Action {
				continue // a rule with a name stays where it is, and may now ask above an allow
			}
			first := *c // the same in the list's first folder
			first.Args = []byte(strings.Replace(string(c.Args), "/data", "/projects", 1))
			asThere := named && op.Old.Decide(&first).Action >= is.Action
			if was.Action == policy.Deny && was.Rule != nil && !(last.RefusesTheRest() && *was.Rule == last.Rule) && !asThere {
				t.Fatalf("%s\n%s on %q %s was denied by %q and is %v", op.Next, c.Names, c.Server, c.Args, was.Rule.Description, is.Action)
			}
			if !strings.Contains(string(c.Args), "data") || strings.Contains(string(c.Args), "..") {
				t.Fatalf("%s\n%s %s lies elsewhere and was %v, is %v", op.Next, c.Names, c.Args, was.Action, is.Action)
			}
			if o.Server != "" && c.Server != o.Server {
				t.Fatalf("%s\n%s on %q %s was %v, is %v", op.Next, c.Names, c.Server, c.Args, was.Action, is.Action)
			}
			if is.Action == policy.Allow && (strings.Contains(string(c.Args), ".env") || strings.Contains(string(c.Args), ".git/") || strings.Contains(string(c.Args), ".key")) && !asThere {
				t.Fatalf("%s\n%s %s is opened", op.Next, c.Names, c.Args)
			}
		}
		for i := range op.Changes {
			if c := &op.Changes[i]; op.Old.Decide(c.Example).Action == op.New.Decide(c.Example).Action {
				t.Errorf("%s\n%s %s does not change", op.Next, c.Example.Names, c.Example.Args)
			}
		}
	}
	if opened < policies/6 {
		t.Errorf("only %d policies have a folder", opened)
	}
}

// A folder goes into a list of [folders] where rules name it, and the other rules are copied.
func TestOpenFolderByName(t *testing.T) {
	rule := func(lines string) string { return "[[rule]]\n" + lines + "\n\n" }
	list := "[folders]\nprojects = [\"~/projects\"]\n\n"
	read := rule("action = \"allow\"\ntool = \"read_*\"\nargs.path = \"${projects}/**\"")
	git := rule("action = \"allow\"\ntool = \"git_checkout\"\nargs.path = \"${projects}/**\"")
	other := rule("action = \"allow\"\ntool = \"list_files\"\nargs.path = \"~/x/**\"")
	named := "projects = [\"~/projects\", \"~/data\"]\n"
	for _, c := range []struct {
		name, src, server string
		write             bool
		want              string // the new text of the policy; "" for the old text with the longer list
		left              string
	}{
		{"reading", list + shut + read + rest, "", false, "", ""},
		{"writing is not opened unasked", list + shut + read + git + rest, "", false, list + shut + read + "# Written.\n[[rule]]\naction = \"allow\"\ntool = \"read_*\"\nargs.path = [\"~/data\", \"~/data/**\"]\n", "add --write"},
		{"writing", list + shut + read + git + rest, "", true, "", ""},
		{"a trial of a change", list + shut + read + rule("action = \"allow\"\ntool = \"edit_file\"\nargs.path = \"${projects}/**\"\nwhere.dryRun = { one_of = [true] }") + rest, "", false, "", ""},
		{"one server of several", list + shut + read + rest, "files", false, list + shut + read + "# Written.\n[[rule]]", "other servers"},
		{"one server", list + shut + strings.Replace(read, "args", "server = \"files\"\nargs", 1) + rest, "files", false, "", ""},
		{"a rule below names the place", list + shut + read + rule("action = \"deny\"\ntool = \"read_file\"\nargs.path = \"/home/user/Data/private/**\"") + rest, "", false, list + shut + read + "[[rule]]\naction = \"deny\"", "which is about this place"},
		{"a rule below names another place", list + shut + read + rule("action = \"deny\"\ntool = \"read_file\"\nargs.path = \"/etc/**\"") + rest, "", false, "", ""},
		{"a rule below is about files in any folder", list + read + shut + rest, "", false, "", ""},
		{"a rule without a name is copied", list + shut + read + other + rest, "", false, strings.Replace(list, "projects = [\"~/projects\"]\n", named, 1) + shut + read + other + "# Written.\n[[rule]]", ""},
	} {
		op, err := OpenFolder([]byte(c.src), options(c.server, c.write))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := c.want
		if want == "" {
			want = strings.Replace(c.src, "projects = [\"~/projects\"]\n", named, 1)
			if op.Text != "[folders]\n"+named || op.Line != 2 || op.Places != 1 {
				t.Errorf("%s: %d places, line %d\n%s", c.name, op.Places, op.Line, op.Text)
			}
		}
		if !strings.HasPrefix(string(op.Next), want) || !strings.Contains(strings.Join(op.Left, "; "), c.left) || c.left == "" && op.Left != nil {
			t.Errorf("%s: %v\n%s", c.name, op.Left, op.Next)
		}
		if len(op.Changes) == 0 {
			t.Errorf("%s: no call changes", c.name)
		}
		for i := range op.Changes {
			if example := op.Changes[i].Example; op.Old.Decide(example).Action == op.New.Decide(example).Action {
				t.Errorf("%s: %s does not change", c.name, example.Args)
			}
		}
	}
	profile := options("", false)
	profile.Parse.Extend = func(policy.Extension) (string, []byte, error) { return "x", []byte(list + read), nil }
	op, err := OpenFolder([]byte("extends = [\"profile:x\"]\n"), profile)
	if err != nil || !strings.Contains(string(op.Next), "[folders]\n"+named) {
		t.Error(err, op)
	}
	const twice = "[[extends]]\nprofile = \"x\"\n[[extends]]\nprofile = \"x\"\n"
	for _, src := range []string{twice, list + twice} {
		op, err := OpenFolder([]byte(src), profile)
		if err != nil || string(op.Next) != "[folders]\n"+named+"\n"+twice || op.Places != 1 {
			t.Errorf("%s: %v %+v", src, err, op)
		}
	}
	profile.Parse.Extend = func(policy.Extension) (string, []byte, error) { return "x", []byte(list + read + git), nil }
	if _, err := OpenFolder([]byte(list+twice), profile); err == nil || !strings.Contains(err.Error(), "the rule on line 9 of profile:x lets tools write there") {
		t.Error(err)
	}
	for _, src := range []string{"[folders]\n" + named + read + rest, "[folders]\n" + named + read + strings.Replace(other, "\"~/x/**\"", "[\"~/x/**\", \"~/data\", \"~/data/**\"]", 1) + rest} {
		if op, err := OpenFolder([]byte(src), options("", false)); err == nil {
			t.Errorf("the folder is there already:\n%s", op.Next)
		}
	}
}

// A folder for reading goes into a list that only reading rules name, and one for writing into the
// list that this list holds.
func TestOpenFolderInAListOfLists(t *testing.T) {
	const projects, reads = "projects = [\"~/projects\"]\n", "reads = [\"${projects}\"]\n"
	rules := "[[rule]]\naction = \"allow\"\ntool = \"read_*\"\nargs.path = \"${reads}/**\"\n\n[[rule]]\naction = \"allow\"\ntool = \"git_checkout\"\nargs.path = \"${projects}/**\"\n\n"
	const wide = "reads = [\"${projects}\", \"~/data\"]\n"
	own := "[folders]\n" + projects + reads + "\n" + shut + rules + rest
	const tables = "[[extends]]\nprofile = \"x\"\n"
	for _, c := range []struct {
		name, src string
		write     bool
		text      string
	}{
		{"reading", own, false, wide},
		{"writing", own, true, "projects = [\"~/projects\", \"~/data\"]\n"},
		{"reading, by the lists of a profile", tables, false, "reads = [\"~/projects\", \"~/data\"]\n"},
		{"reading, by a list of a profile", "[folders]\n" + projects + "\n" + tables, false, wide},
		{"reading, by a list of the owner", "[folders]\n" + projects + reads + "\n" + tables, false, wide},
	} {
		o := options("", c.write)
		o.Parse.Extend = func(policy.Extension) (string, []byte, error) {
			return "x", []byte("[folders]\n" + projects + reads + "\n" + shut + rules), nil
		}
		op, err := OpenFolder([]byte(c.src), o)
		if err != nil || op.Text != "[folders]\n"+c.text || op.Left != nil {
			t.Errorf("%s: %v %+v", c.name, err, op)
			continue
		}
		read := &policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(`{"path":"~/data/x"}`), Screened: true}
		write := *read
		if write.Names = []string{"git_checkout"}; op.New.Decide(read).Action != policy.Allow || (op.New.Decide(&write).Action == policy.Allow) != c.write {
			t.Errorf("%s:\n%s", c.name, op.Next)
		}
	}
}

// In the starters, nothing is more open in the other folder than in ~/projects. Their rules name the list
// of folders, and with it the exceptions (.env.example).
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

// A link in a folder's path may lead to any place later.
func TestCheckFolderOnTheDisk(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, "state")
	for _, dir := range []string{"data", "state/clawai"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"away": "/etc", "near": filepath.Join(home, "data"), "own": state} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Skip(err)
		}
	}
	for folder, want := range map[string]string{
		"data": "", "absent": "", "absent/below": "", "away": "leads through a link to", "near": "leads through a link to", "away/x/y": "leads through a link to", "state/clawai/x": "clawai's own",
	} {
		err := CheckFolder(filepath.Join(home, folder), home, []string{filepath.Join(state, "clawai"), filepath.Join(home, "own", "clawai")})
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

// Rules that the policy extends where it stands are copied as its own are: each copy says above
// which rule of theirs it stands.
func TestOpenFolderOfExtendedRules(t *testing.T) {
	described := func(lines, text string) string { return "[[rule]]\n" + lines + "\ndescription = \"" + text + "\"\n\n" }
	shelf := described("action = \"allow\"\ntool = \"read_*\"\nargs.path = \"~/projects/**\"\nargs_only = true", "Read") +
		described("action = \"deny\"\ntool = \"*\"\nargs.path = [\"**/.env\", \"**/.git/**\"]", "Keys") +
		described("action = \"prompt\"\ntool = \"write_file\"\nargs.path = \"~/projects/**\"", "Ask")
	o := options("", true)
	o.Parse.Extend = func(x policy.Extension) (string, []byte, error) { return x.String(), []byte(shelf), nil }
	src := "[[extends]]\nprofile = \"files\"\n\n" + rest
	op, err := OpenFolder([]byte(src), o)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(op.Text, "[[rule]]") != 2 || strings.Count(op.Text, "above = \"Ask\"\n") != 1 || !strings.Contains(op.Text, "description = \"Read, also in ~/data\"\nabove = ") {
		t.Errorf("%s", op.Text)
	}
	for file, want := range map[string]policy.Action{"a": policy.Allow, ".env": policy.Deny} {
		c := policy.Call{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(`{"path":"` + rulemix.Home + "/data/" + file + `"}`), Screened: true}
		if d := op.New.Decide(&c); d.Action != want {
			t.Errorf("%s: %v by %+v in\n%s", file, d.Action, d.Rule, op.Next)
		}
	}
	if lines := strings.Split(string(op.Next), "\n"); !strings.HasPrefix(lines[op.Line-1], "# Written") {
		t.Errorf("line %d of\n%s", op.Line, op.Next)
	}
	// A rule without a description takes none above it.
	shelf = strings.ReplaceAll(shelf, "description = \"Ask\"\n", "")
	if _, err := OpenFolder([]byte(src), options("", false)); err == nil {
		t.Error("a policy that extends opens a folder without its texts")
	}
	o.Write = false
	if op, err = OpenFolder([]byte(src), o); err == nil {
		t.Errorf("it stands above a rule that has no name:\n%s", op.Next)
	}
}
