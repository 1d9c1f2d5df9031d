package shell_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/shell"
)

func constraint(t testing.TB, patterns ...string) where.Constraint {
	t.Helper()
	c, err := shell.New([]shell.Setting{{Name: "run", List: patterns}}, shell.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newConstraint(pattern string) (where.Constraint, error) {
	return shell.New([]shell.Setting{{Name: "run", List: []string{pattern}}}, shell.Ports{})
}

func text(s string) where.Value { return where.Value{Kind: where.String, Text: s, Raw: s} }

var verdicts = map[where.Match]string{where.No: "no", where.Maybe: "maybe", where.Yes: "yes"}

// entry is one case of a corpus: comment lines above it say where it is from.
type entry struct {
	source, command string
	line            int
}

// corpus reads a file of commands: "# source" lines, then commands, each ended
// by a line "---" or, where the file has none in that block, by its line end.
func corpus(t testing.TB, name string) []entry {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []entry
	source := ""
	var block []string
	many := false
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		switch {
		case line == "<<<":
			many, block = true, nil
		case line == ">>>":
			many = false
			list = append(list, entry{source, strings.Join(block, "\n"), n})
		case many:
			block = append(block, line)
		case strings.HasPrefix(line, "## "):
			source = line[3:]
		case line != "":
			list = append(list, entry{source, line, n})
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// allowed is what a developer lets an agent run unasked.
var allowed = strings.Split(strings.TrimSpace(`
ls **
cat **
head **
tail **
wc **
grep **
rg **
find **
sort **
uniq **
cut **
tr **
echo **
printf **
pwd
cd **
diff **
tree **
file **
stat **
du **
which **
date **
test **
[ **
true
sed **
awk **
xargs **
jq **
git status **
git log **
git diff **
git show **
git branch **
git --no-pager log **
git rev-parse **
git ls-files **
git ls-remote **
git grep **
git blame **
git add **
git commit **
go build **
go test **
go vet **
go list **
go fmt **
npm test **
npm test -- **
npm run *
cargo build **
cargo test **
make **
python3 -m pytest **
pytest **
tar **
man **
env **
timeout **
time **
bash **
sh **
command -v **
basename **
dirname **
sleep *
curl https://api.example.com/*
docker ps **
kubectl get **
tee /dev/null
nl **
npm view **
tsc **
strings **
git fetch **
git clone **
git push --dry-run
git symbolic-ref **
hostname **
git -P log **
git cat-file **
rev **
mkdir -p **
touch **
`), "\n")

// denied is what must not run, however it is spelt.
var denied = []string{"rm **", "curl **", "git push **", "dd **", "nc **"}

func TestOrdinaryCommandsAreAllowed(t *testing.T) {
	c := constraint(t, allowed...)
	list := corpus(t, "benign.txt")
	if len(list) < 80 {
		t.Errorf("%d commands, want at least 80", len(list))
	}
	for _, e := range list {
		if got := c.JudgeValue(text(e.command), true); got != where.Yes {
			t.Errorf("benign.txt:%d: %s: %q", e.line, verdicts[got], e.command)
		}
	}
}

func TestEvasionsAreNotAllowed(t *testing.T) {
	c := constraint(t, allowed...)
	list := corpus(t, "evasions.txt")
	if len(list) < 80 {
		t.Errorf("%d commands, want at least 80", len(list))
	}
	for _, e := range list {
		if e.source == "" {
			t.Errorf("evasions.txt:%d has no source", e.line)
		}
		if got := c.JudgeValue(text(e.command), true); got == where.Yes {
			t.Errorf("evasions.txt:%d: allowed: %q (%s)", e.line, e.command, e.source)
		}
	}
}

func TestDeniedCommandsAreMet(t *testing.T) {
	c := constraint(t, denied...)
	list := corpus(t, "denied.txt")
	if len(list) < 30 {
		t.Errorf("%d commands, want at least 30", len(list))
	}
	for _, e := range list {
		if got := c.JudgeValue(text(e.command), false); got == where.No {
			t.Errorf("denied.txt:%d: not met: %q (%s)", e.line, e.command, e.source)
		}
	}
}

// Programs that may run others run what their words say, and a deny goes by that.
func TestEverydayCommandsMeetNoDeny(t *testing.T) {
	c := constraint(t, denied...)
	for _, e := range corpus(t, "everyday.txt") {
		if got := c.JudgeValue(text(e.command), false); got != where.No {
			t.Errorf("everyday.txt:%d: %s: %q", e.line, verdicts[got], e.command)
		}
	}
}

// A rule that denies rm must leave ordinary commands alone.
func TestOrdinaryCommandsMeetNoDeny(t *testing.T) {
	c := constraint(t, denied...)
	for _, e := range corpus(t, "benign.txt") {
		if strings.Contains(e.command, "curl") {
			continue
		}
		if got := c.JudgeValue(text(e.command), false); got != where.No {
			t.Errorf("benign.txt:%d: %s: %q", e.line, verdicts[got], e.command)
		}
	}
}
