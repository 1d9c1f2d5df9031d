package proxycmd

import "testing"

func TestCutName(t *testing.T) {
	for text, want := range map[string][2]string{
		"tickets=https://h.example/mcp": {"tickets", "https://h.example/mcp"},
		"https://h.example/mcp?a=b":     {"", "https://h.example/mcp?a=b"},
		"tickets=/home/me/a=b":          {"tickets", "/home/me/a=b"},
		"/home/me/a=b":                  {"", "/home/me/a=b"},
		"./a=b":                         {"", "./a=b"},
		"=b":                            {"", "=b"},
		"headers":                       {"", "headers"},
		"env:NAME":                      {"", "env:NAME"},
	} {
		if name, rest, named := cutName(text); name != want[0] || rest != want[1] || named != (name != "") {
			t.Errorf("%s: %q, %q, %v", text, name, rest, named)
		}
	}
}
