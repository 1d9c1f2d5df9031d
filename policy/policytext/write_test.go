package policytext_test

import (
	"testing"

	"github.com/clawai/clawai/policy/policytext"
)

func TestKey(t *testing.T) {
	if got := policytext.DottedKey("args", "a.b", "c", ""); got != `args."a.b".c.""` {
		t.Error(got)
	}
}

// Rules without a server get the ones that are given; those about others leave with their
// comments, and with nothing of their neighbours.
func TestForServers(t *testing.T) {
	const mine, other = "[[rule]]\naction = \"deny\"\nserver = \"pg\"\n", "[[rule]]\naction = \"deny\"\nserver = \"production\"\n[rule.args]\nsql = \"x\"\n"
	for src, want := range map[string]string{
		"[[rule]]\naction = \"deny\"\n":                                 mine,
		"# Head\n\n# Why\n" + other + "\n# Kept\n" + mine:               "# Head\n\n# Kept\n" + mine,
		other + mine + "\n" + mine:                                      mine + "\n" + mine,
		mine + "\n" + other:                                             mine + "\n",
		"[[rule]]\r\nserver = \"x\"\r\n\r\n[[rule]]\r\nserver = \"pg\"": "[[rule]]\r\nserver = \"pg\"",
		"[[rule]]\nserver = [\"x\", \"y\"]\n":                           "",
		"[[rule]]\nserver = [\"x\", \"pg\"]\n":                          "[[rule]]\nserver = [\"x\", \"pg\"]\n",
		"[[rule]]\nserver = \"p*\"\n":                                   "[[rule]]\nserver = \"p*\"\n",
		"[[rule]]\nnot.server = \"x\"\nserver = \"*\"\n":                "[[rule]]\nnot.server = \"x\"\nserver = \"*\"\n",
	} {
		got, err := policytext.ForServers([]byte(src), []string{"pg"})
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", src, got, err, want)
		}
	}
}

// What is put behind a policy begins on a line of its own, after an empty one.
func TestAppend(t *testing.T) {
	for src, want := range map[string]string{
		"":          "b\nc\n",
		"a = 1":     "a = 1\n\nb\nc\n",
		"a = 1\n":   "a = 1\n\nb\nc\n",
		"a = 1\r\n": "a = 1\r\n\r\nb\r\nc\r\n",
	} {
		if got := string(policytext.AppendText([]byte(src), "b\nc\n")); got != want {
			t.Errorf("%q: %q", src, got)
		}
	}
}
