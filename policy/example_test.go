package policy_test

import (
	"fmt"

	"github.com/clawai/clawai/policy"
)

func Example() {
	p, err := policy.Parse("policy.toml", []byte(`
[[rule]]
action = "deny"
tool = "*"
args.path = "**/.env"

[[rule]]
action = "allow"
tool = "read_file"
args.path = "/srv/app/**"
`), policy.Options{})
	if err != nil {
		fmt.Println(err) // every mistake, with its line
		return
	}
	for _, args := range []string{`{"path":"/srv/app/main.go"}`, `{"path":"/srv/app/.env"}`, `{"path":"/srv/app/../../etc/passwd"}`} {
		d := p.Decide(&policy.Call{
			Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(args),
		})
		by := "no rule"
		if d.Rule != nil {
			by = fmt.Sprint("the rule on line ", d.Rule.Pos.Line)
		}
		fmt.Println(args, d.Action, "by", by)
	}
	// Output:
	// {"path":"/srv/app/main.go"} allow by the rule on line 7
	// {"path":"/srv/app/.env"} deny by the rule on line 2
	// {"path":"/srv/app/../../etc/passwd"} deny by no rule
}
