package policy

import "testing"

// A denial by nothing but the lack of a root says below which folder there is one.
func TestHint(t *testing.T) {
	const allow = "[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = [\"~/projects/**\", \"/srv/*.txt\"]\n"
	const other = "[[rule]]\naction = \"deny\"\ntool = \"*\"\ndescription = \"Default\"\n"
	const deny = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"**/.env\"\n"
	const move = "[[rule]]\naction = \"prompt\"\ntool = \"move\"\nargs.from = \"/data/**\"\nargs.to = \"/data/**\"\n"
	for _, c := range []struct {
		rules, tool, args, cwd, want string
	}{
		{allow, "read", `{"path":"src/main.go"}`, "", "~/projects"},
		{allow, "read", `{"path":"./src/main.go"}`, "/srv", "~/projects"},
		{allow + other, "read", `{"n":1,"path":"src/main.go","o":{}}`, "", "~/projects"},
		{allow, "read", `{"path":"~other/a.txt"}`, "", "~/projects"},
		{allow, "read", `{"path":"file://host/home/u/projects/a"}`, "", "~/projects"},
		{allow, "read", `{"path":"file://host/home/u/.ssh/a"}`, "", ""},
		{allow, "read", `{"path":"../../.ssh/id"}`, "", ""},
		{allow, "read", `{"path":"/etc/passwd"}`, "", ""},
		{allow, "read", `{"path":"-x"}`, "", ""},
		{allow, "read", `{"path":""}`, "", ""},
		{allow, "read", `{"path":7}`, "", ""},
		{allow, "read", `{"paths":"a"}`, "", ""},
		{allow, "read", `{"path":"$HOME/a"}`, "", "~/projects"},
		{allow, "write", `{"path":"a"}`, "", ""},
		{deny + allow, "read", `{"path":".env"}`, "", ""},
		{move, "move", `{"from":"a","to":"b"}`, "", "/data"},
		{move, "move", `{"from":"a","to":"/etc/b"}`, "", ""},
		{"[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/*\"\n", "read", `{"path":"a"}`, "", "/"},
		{"[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = [\"src/**\", \"~\"]\n", "read", `{"path":"a/b"}`, "", ""},
	} {
		p, err := Parse("policy.toml", []byte(c.rules), Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		call := toolCall(c.tool, c.args)
		call.Cwd = c.cwd
		if got := p.Hint([]Call{*call}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	p, _ := Parse("policy.toml", []byte(allow), Options{Home: "/home/u"})
	layer, err := Parse("project.toml", []byte(deny+deny+deny+other), Options{Layer: "project"})
	if err != nil {
		t.Fatal(err)
	}
	under, err := Parse("policy.toml", []byte(allow+"[[rule]]\naction = \"allow\"\ntool = \"read\"\n"), Options{Home: "/home/u", Above: []*Policy{layer}})
	if err != nil {
		t.Fatal(err)
	}
	if got := under.Hint([]Call{*toolCall("read", `{"path":"a"}`)}); got != "" {
		t.Errorf("under a layer that denies: %q", got)
	}
	if got := p.Hint([]Call{{Subject: ResourceSubject, Names: []string{"a"}}}); got != "" {
		t.Errorf("of a resource: %q", got)
	}
}

// However many folders rules name, few are tried.
func TestHintIsBounded(t *testing.T) {
	text := "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.mode = \"x\"\n"
	for range maxHints + 1 {
		text += "[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/a/*/b\"\n"
	}
	p, err := Parse("policy.toml", []byte(text+"[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/z/**\"\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Hint([]Call{*toolCall("read", `{"path":"c"}`)}); got != "" {
		t.Errorf("%q", got)
	}
}
