package format_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/format"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const crooked = `


# About the file.

# Secrets.
[[ rule ]]   # one
# what it says
description='Keys "stay" shut'    # shown
  args.path=['**/.ssh','**/.env' , "a\\b"]

where . 'url' . host = [
'a.test', "b.test"]
tool="*"
   action   =   'deny'
# server = "old"

# Apart.

# Of the second.
[[rule]]
action = "prompt"
"tool" = "x"
args = {a="1","b c"={d=['e']}}
[rule.args]
# inner
f = [ # kept
   'g',  ]

# The end.


`

const straight = `# About the file.

# Secrets.
[[rule]]  # one
action = "deny"
tool = "*"
args.path = ["**/.ssh", "**/.env", 'a\b']
where.url.host = [
  "a.test",
  "b.test",
]
# what it says
description = 'Keys "stay" shut'  # shown
# server = "old"

# Apart.

# Of the second.
[[rule]]
action = "prompt"
tool = "x"
args = { a = "1", "b c" = { d = ["e"] } }
[rule.args]
# inner
f = [ # kept
   'g',  ]

# The end.
`

func TestFormat(t *testing.T) {
	src := strings.Replace(crooked, "[rule.args]", "[rule.where]", 1)
	want := strings.Replace(straight, "[rule.args]", "[rule.where]", 1)
	for name, in := range map[string]string{"crooked": src, "straight": want} {
		out, err := format.Format([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	out, err := format.Format([]byte(strings.ReplaceAll(src, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(out), "\r\n"); len(lines) != strings.Count(want, "\n")+1 || strings.Contains(strings.Join(lines, ""), "\r") {
		t.Errorf("line ends: %q", out)
	}
}

func TestFormatRefuses(t *testing.T) {
	for _, src := range []string{"a", "[[rule]]\na = \n", "a = 1\na = 2\n", "a = 2020-13-41\n"} {
		if out, err := format.Format([]byte(src)); err == nil {
			t.Errorf("%q becomes %q", src, out)
		}
	}
}

// The starter policies are in canonical form, but for the one that quotes the
// reference as it stands.
func TestStartersAreFormatted(t *testing.T) {
	for file, src := range starters(t) {
		out, err := format.Format(src)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(src), string(out)); diff != "" && filepath.Base(filepath.Dir(file)) != "seed" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func starters(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../../../fixtures/*/policy.toml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = src
	}
	return all
}

// FuzzFormat: what is formatted says the same, keeps every comment, and is not
// changed by formatting it again.
func FuzzFormat(f *testing.F) {
	for _, src := range starters(f) {
		f.Add(src)
	}
	f.Add([]byte(crooked))
	f.Add([]byte(straight))
	f.Add([]byte("[server.x]\n# a\n\n# b\nk = 'v'#c\n[[rule]]\n\n\n#d"))
	meaning := cmp.Options{
		cmpopts.IgnoreTypes(policy.Position{}), cmpopts.IgnoreFields(policy.Source{}, "Start", "End"),
		// How a value was written is not what it says.
		cmpopts.IgnoreFields(policy.WhereSource{}, "Text", "Constraint"), cmpopts.IgnoreFields(policy.When{}, "Text", "Zone"),
		cmpopts.IgnoreFields(policy.Stated{}, "Text"), cmpopts.IgnoreUnexported(policy.Stated{}),
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := format.Format(src)
		if err != nil {
			return
		}
		again, err := format.Format(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("formatted %q, and again %q, %v", out, again, err)
		}
		if diff := cmp.Diff(comments(src), comments(out)); diff != "" {
			t.Fatalf("comments: %s", diff)
		}
		p, err := policy.Parse("p.toml", src, policy.Options{Home: "/home/user"})
		if err != nil {
			return
		}
		q, err := policy.Parse("p.toml", out, policy.Options{Home: "/home/user"})
		if err != nil {
			t.Fatalf("it does not load any more: %v", err)
		}
		if diff := cmp.Diff(p.Sources(), q.Sources(), meaning); diff != "" {
			t.Fatal(diff)
		}
	})
}

// comments are the words behind number signs, wherever they stand, sorted.
func comments(src []byte) []string {
	words := strings.FieldsFunc(string(src), func(r rune) bool { return r == '\n' || r == '\r' })
	words = slices.DeleteFunc(words, func(s string) bool { return !strings.HasPrefix(strings.TrimSpace(s), "#") })
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	slices.Sort(words)
	return words
}

// A limit over all tools is a table of its own, which no rule's keys go into.
func TestFormatLimit(t *testing.T) {
	const src = "[[rule]]\ntool='*'\naction='allow'\n[[limit]]  # all\n  tool=[ 'a','b' ]\nrate='9/min'\n[[rule]]\naction='deny'\ntool='x'\n"
	const want = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n\n[[limit]]  # all\ntool = [\"a\", \"b\"]\nrate = \"9/min\"\n\n[[rule]]\naction = \"deny\"\ntool = \"x\"\n"
	if got, err := format.Format([]byte(src)); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
