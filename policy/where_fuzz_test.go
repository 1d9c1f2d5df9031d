package policy

import (
	"encoding/json"
	"testing"
)

// Whatever the arguments are: judging them ends, what a constraint opens as an
// allow it shuts as a deny, and no two constraints that exclude each other open
// the same call.
func FuzzWhere(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":null}`, `{"a":[]}`, `{"a":{"b":[1,{"a":"x"}]}}`, `{"a":"/srv/../x%2e"}`, `{"A":"select 1; drop table x"}`,
		`{"a":["git status && rm -rf /","https://127.1/"]}`, `{"a":1e400,"b":-0.0}`, `{"a":" \n x\t"}`, `{"a":"\ud800\u0000"}`, `{"a":[[],{},true,false,"~/x"]}`,
	} {
		f.Add([]byte(s))
	}
	excluding := [][]string{
		{"where.a.present = true", "where.a.present = false"},
		{`where.a.type = "string"`, `where.a.type = "array"`, `where.a.type = "object"`, `where.a.type = "null"`, `where.a.type = "number"`, `where.a.type = "boolean"`},
		{"where.a.min = 2", "where.a.max = 1"},
		{`where.a.scheme = "https"`, `where.a.scheme = "ftp"`},
		{"where.a.public = true", "where.a.public = false"},
		{`where.a.regex = "(?s).*x"`, `where.a.regex = "(?s)(.*[^x])?"`},
		{"where.a.max_length = 2", `where.a.regex = "(?s)....*"`},
		{`where.a.one_of = ["x", 1, true]`, `where.a.one_of = ["y", 2, false]`},
		{`where.a.command = "git **"`}, {`where.a.sql = "read-only"`}, {"where.a.under = '/srv'"}, {`where.a.host = "**"`}, {"where.a.b.present = false"},
	}
	type pair struct{ allow, deny *Policy }
	policies := make([][]pair, len(excluding))
	for i, group := range excluding {
		for _, text := range group {
			read := func(src string) *Policy {
				p, err := Parse("p.toml", []byte(src), Options{Home: "/home/u"})
				if err != nil {
					f.Fatal(err)
				}
				return p
			}
			policies[i] = append(policies[i], pair{
				read(ruleWith(text)),
				read("[[rule]]\naction = \"deny\"\ntool = \"t\"\n" + text + "\n" + ruleWith("")),
			})
		}
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		var sink map[string]any
		if json.Unmarshal(args, &sink) != nil {
			return // nothing that internal/wire/frame admits
		}
		call := toolCall("t", string(args))
		for i, group := range policies {
			opened := ""
			for j, p := range group {
				if p.allow.Decide(call).Action != Allow {
					continue
				}
				if d := p.deny.Decide(call); d.Action != Deny {
					t.Errorf("%s: %s opens it as an allow and not shuts it as a deny", args, excluding[i][j])
				}
				if opened != "" {
					t.Errorf("%s: %s and %s both open it", args, opened, excluding[i][j])
				}
				opened = excluding[i][j]
			}
		}
	})
}
