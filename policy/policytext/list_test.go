package policytext

import "testing"

func TestAppendElement(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"one line", "[folders]\nb = []\na = [\"/x\"] # mine\n[[rule]]\n", "[folders]\nb = []\na = [\"/x\", \"/y\"] # mine\n[[rule]]\n"},
		{"an empty list", "[folders]\na = [ ]\n", "[folders]\na = [\"/y\"]\n"},
		{"a comma at the end", "[folders]\na = [\"/x\", ]\n", "[folders]\na = [\"/x\", \"/y\", ]\n"},
		{"lines", "[folders]\r\na = [\r\n  '/w',\r\n  '/x', # here\r\n]\r\n", "[folders]\r\na = [\r\n  '/w',\r\n  '/x', # here\r\n  \"/y\",\r\n]\r\n"},
		{"the last line without a comma", "[folders]\na = [\n  '/w',\n  '/x' # here\n]\n", "[folders]\na = [\n  '/w',\n  '/x',\n  \"/y\" # here\n]\n"},
		{"another table", "[other]\na = []\n", ""},
		{"no list", "[folders]\na = 1\n", ""},
		{"a list of tables", "[[folders]]\na = []\n", ""},
	} {
		out, at, found := AppendElement([]byte(c.src), "folders", "a", `"/y"`)
		if string(out) != c.want || found != (c.want != "") || found && out[at] != 'a' {
			t.Errorf("%s: %q at %d", c.name, out, at)
		}
	}
}

func TestAddPair(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"in the table", "[folders]\nb = []\n\n[[rule]]\nx = 1\n", "[folders]\nb = []\na = []\n\n[[rule]]\nx = 1\n"},
		{"at the end of the file", "[folders]\nb = []", "[folders]\nb = []\na = []"},
		{"below pairs", "# Mine.\nextends = [] # y\n\n[[rule]]\n", "# Mine.\nextends = [] # y\n\n[folders]\na = []\n\n\n[[rule]]\n"},
		{"only pairs", "extends = []\r\n", "extends = []\r\n\r\n[folders]\r\na = []\r\n\r\n"},
		{"above rules", "# A rule.\n[[rule]]\n", "[folders]\na = []\n\n# A rule.\n[[rule]]\n"},
		{"nothing", "", "[folders]\na = []\n\n"},
	} {
		out, at := AddPair([]byte(c.src), "folders", Pair{"a", "[]"})
		if string(out) != c.want || string(out[at:at+6]) != "a = []" {
			t.Errorf("%s: %q at %d", c.name, out, at)
		}
	}
}

func TestAppendElementInADottedTable(t *testing.T) {
	out, _, found := AppendElement([]byte("[server.\"a b\".sandbox]\nnet = []\n[server.c.sandbox]\nnet = []\n"), DottedKey("server", "a b", "sandbox"), "net", `"x"`)
	if want := "[server.\"a b\".sandbox]\nnet = [\"x\"]\n[server.c.sandbox]\nnet = []\n"; !found || string(out) != want {
		t.Errorf("%q", out)
	}
}
