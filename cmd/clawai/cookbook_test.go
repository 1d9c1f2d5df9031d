package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/format"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

const cookbook = "docs/cookbook.md"

// recipe is one section of the cookbook: policies, and calls with their answers.
type recipe struct {
	title  string
	above  map[string]string // by layer; a block "toml organisation" or "toml project"
	policy string
	rows   []row
}

// row is a line of a table: a call, the server or the time where it matters, and
// the answer.
type row struct {
	call, server, at, answer string
}

// TestCookbook: every recipe loads and is in canonical form, answers the calls
// below it as it says, uses every rule to do so, and has nothing that lint warns
// about.
func TestCookbook(t *testing.T) {
	recipes := readCookbook(t)
	if len(recipes) < 20 {
		t.Errorf("only %d recipes", len(recipes))
	}
	links := linkedDisk(t)
	for _, r := range recipes {
		t.Run(r.title, func(t *testing.T) {
			if len(r.rows) < 2 {
				t.Fatal("fewer than two calls")
			}
			options := policyfile.PolicyOptions("/home/user")
			options.Disk = links
			own := options
			for _, layer := range slices.Sorted(maps.Keys(r.above)) {
				options.Layer = layer
				own.Above = append(own.Above, load(t, r.above[layer], options))
			}
			p := load(t, r.policy, own)
			used := map[policy.Position]bool{}
			for _, c := range r.rows {
				answer, rule := judge(t, p, &c)
				if answer != c.answer {
					t.Errorf("%s: %s, want %s", c.call, answer, c.answer)
				}
				if rule != nil {
					used[rule.Pos] = true
				}
			}
			for _, layer := range append(own.Above, p) {
				for _, rule := range layer.Rules() {
					if !used[rule.Pos] && !strings.HasPrefix(rule.Pos.File, "profile:") {
						t.Errorf("%s:%d: no call is answered by this rule", rule.Pos.File, rule.Pos.Line)
					}
				}
			}
		})
	}
}

func load(t *testing.T, text string, o policy.Options) *policy.Policy {
	t.Helper()
	name := o.Layer + "policy.toml"
	p, err := policy.Parse(name, []byte(text), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o.Disk = disk.PlainDisk()
	plain, err := policy.Parse(name, []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lint.Run(plain, []byte(text), lint.Options{}).Findings {
		if f.Severity.Compare(check.Warning) >= 0 {
			t.Errorf("lint: %s:%d: %s: %s (%s)", f.Pos.File, f.Pos.Line, f.Code, f.Message, f.Call)
		}
	}
	if canonical, err := format.Format([]byte(text)); err != nil || !bytes.Equal(canonical, []byte(text)) {
		t.Errorf("policy fmt would write (%v)\n%s", err, canonical)
	}
	return p
}

// judge gives the answer in the cookbook's words, and the rule.
func judge(t *testing.T, p *policy.Policy, c *row) (string, *policy.Rule) {
	t.Helper()
	fixture, err := check.ParseFixture([]byte(c.fixture()))
	if err != nil {
		t.Fatalf("%s: %v", c.call, err)
	}
	result := check.JudgeFixture(p, fixture, "")
	answer := result.Action.String()
	if result.Rule != nil && result.Rule.OutOfBand {
		answer += ", out of band"
	}
	calls, err := fixture.ReadCalls("")
	if err != nil {
		t.Fatalf("%s: %v", c.call, err)
	}
	if len(p.DecideAll(calls).Rates) > 0 {
		answer += ", counted"
	}
	return answer, result.Rule
}

// fixture writes a row as one: "read_file {...}" is a tool with its arguments,
// and what begins with the key of another subject is about that.
func (c *row) fixture() string {
	key, rest, _ := strings.Cut(c.call, " ")
	name, args, _ := strings.Cut(rest, " ")
	var method, params string
	switch key {
	case "resource":
		method, params = "resources/read", fmt.Sprintf(`{"uri": %q}`, rest)
	case "prompt":
		method, params = "prompts/get", fmt.Sprintf(`{"name": %q, "arguments": %s}`, name, orEmpty(args))
	case "sampling":
		method, params = "sampling/createMessage", fmt.Sprintf(`{"maxTokens": 100, "messages": [{"role": "user", "content": {"type": "text", "text": %q}}]}`, rest)
	case "elicitation":
		method, params = "elicitation/create", fmt.Sprintf(`{"message": %q, "requestedSchema": {"type": "object", "properties": {}}}`, rest)
	case "method":
		method, params = rest, "{}"
	default:
		method, params = "tools/call", fmt.Sprintf(`{"name": %q, "arguments": %s}`, key, orEmpty(rest))
	}
	more := ""
	if c.server != "" {
		more += fmt.Sprintf(`, "server": %q`, c.server)
	}
	if c.at != "" {
		more += fmt.Sprintf(`, "at": %q`, c.at)
	}
	return fmt.Sprintf(`{"method": %q, "params": %s%s}`, method, params, more)
}

func orEmpty(args string) string {
	if args == "" {
		return "{}"
	}
	return args
}

func readCookbook(t *testing.T) (recipes []recipe) {
	t.Helper()
	var r *recipe
	into := (*strings.Builder)(nil)
	language := ""
	for line := range strings.Lines(read(t, cookbook)) {
		line = strings.TrimRight(line, "\n")
		fence, fenced := strings.CutPrefix(line, "```")
		title, heading := strings.CutPrefix(line, "### ")
		switch {
		case fenced && into == nil:
			into, language = &strings.Builder{}, fence
		case fenced:
			layer, isPolicy := strings.CutPrefix(language, "toml")
			switch layer = strings.TrimSpace(layer); {
			case !isPolicy:
			case r == nil || r.policy != "":
				t.Fatalf("a policy that belongs to no recipe:\n%s", into)
			case layer != "":
				r.above[layer] = into.String()
			default:
				r.policy = into.String()
			}
			into = nil
		case into != nil:
			into.WriteString(line + "\n")
		case heading:
			recipes = append(recipes, recipe{title: title, above: map[string]string{}})
			r = &recipes[len(recipes)-1]
		case r != nil && strings.HasPrefix(line, "| `"):
			r.rows = append(r.rows, readRow(t, line))
		}
	}
	return recipes
}

// readRow reads | `call` | where and when | answer |, or without the middle.
func readRow(t *testing.T, line string) row {
	t.Helper()
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(line, `\|`, bar), "|")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), bar, "|")
	}
	if len(cells) < 4 || len(cells) > 5 {
		t.Fatalf("no call and answer: %s", line)
	}
	c := row{call: strings.Trim(cells[1], "`"), answer: cells[len(cells)-2]}
	if len(cells) == 5 {
		where := strings.Trim(cells[2], "`")
		if at, err := time.Parse("Mon 2006-01-02 15:04 -07:00", where); err == nil {
			c.at = at.Format(time.RFC3339)
		} else {
			c.server = where
		}
	}
	return c
}

// linkedDisk is the disk the recipes look at: ~/projects/link leads to /etc.
func linkedDisk(t *testing.T) disk.Disk {
	t.Helper()
	root := t.TempDir()
	projects := filepath.Join(root, "home", "user", "projects")
	for _, dir := range []string{projects, filepath.Join(root, "etc")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(projects, "link")); err != nil {
		t.Fatal(err)
	}
	return disk.RootedDisk(root)
}
