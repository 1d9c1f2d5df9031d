package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const trustText = `
[server.mail]
public_source = true
secret_data = "private"

[server.mail.tool."send_*"]
public_sink = true
decides = ["to", "cc"]

[server.mail.tool."*"]
public_sink = false
dangerous_writes = "forbidden"

[server."a b"]
secret_data = true
[server.bank]
weighs = ["amount"]
[server.bank.tool."pay"]
weighs = ["sum", "fee"]
[flow]
level = "ask"
`

func trustPolicy(t *testing.T, text string, o Options) *Policy {
	t.Helper()
	p, err := Parse("p.toml", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTrust(t *testing.T) {
	p := trustPolicy(t, trustText, Options{})
	if p.FlowLevel() != Ask || p.FlowLevel().String() != "ask" || len(p.TrustTables()) != 6 {
		t.Fatalf("level %v, %d tables", p.FlowLevel(), len(p.TrustTables()))
	}
	if got := p.TrustTables()[1]; got.String() != `[server.mail.tool."send_*"] public_sink = true decides = ["to", "cc"]` || p.LocalFlowLevel() != Ask {
		t.Errorf("%s, level %v", got.String(), p.LocalFlowLevel())
	}
	for _, c := range []struct {
		server, names string
		want          ToolTraits
	}{
		{"mail", "send_now", ToolTraits{Own: Traits{Yes, Private, Yes, Forbidden}, Decides: []string{"to", "cc"}}},
		{"mail", "list", ToolTraits{Own: Traits{Yes, Private, No, Forbidden}}},
		{"mail", "send_x list", ToolTraits{Own: Traits{Yes, Private, Yes, Forbidden}, Decides: []string{"to", "cc"}}},
		{"mail", "list send_x", ToolTraits{Own: Traits{Yes, Private, Yes, Forbidden}}},
		{"mail", "a/b send_x", ToolTraits{Own: Traits{Yes, Private, Unsaid, Unsaid}}},
		{"mail", "", ToolTraits{Own: Traits{Yes, Private, Unsaid, Unsaid}}},
		{"a b", "x", ToolTraits{Own: Traits{SecretData: Yes}}},
		{"bank", "send", ToolTraits{Weighs: []string{"amount"}}},
		{"bank", "send pay", ToolTraits{Weighs: []string{"amount", "sum", "fee"}}},
		{"bank", "pay", ToolTraits{Weighs: []string{"sum", "fee"}}},
		{"other", "x", ToolTraits{}},
		{"", "send_now", ToolTraits{}},
	} {
		if diff := cmp.Diff(c.want, p.ToolTrust(c.server, strings.Fields(c.names))); diff != "" {
			t.Errorf("%s %s: %s", c.server, c.names, diff)
		}
	}
}

func TestTrustOfLayers(t *testing.T) {
	org := trustPolicy(t, "[server.mail]\nsecret_data = true\npublic_source = false\nweighs = ['size']\n[server.bank]\nweighs = ['limit']\n[flow]\nlevel='strict'\n", Options{Layer: "organisation"})
	p := trustPolicy(t, trustText, Options{Above: []*Policy{org}})
	if p.FlowLevel() != Strict {
		t.Errorf("the level is %v", p.FlowLevel())
	}
	said := p.ToolTrust("mail", []string{"list"})
	if all := p.ToolTrust("bank", []string{"send"}).Weighs; !slices.Equal(said.Weighs, []string{"size"}) || !slices.Equal(all, []string{"amount", "limit"}) {
		t.Errorf("%v and %v weigh", said.Weighs, all)
	}
	if got := said.Own.Join(said.Floor); got != (Traits{Yes, Yes, No, Forbidden}) {
		t.Errorf("joined it is %v", got)
	}
	if got := (Traits{No, Unsaid, Yes, Unsaid}).FillUnsaid(Traits{Yes, Yes, No, No}); got != (Traits{No, Yes, Yes, No}) {
		t.Errorf("or: %v", got)
	}
	if w := p.forSystem(Windows); w.FlowLevel() != Strict || len(w.TrustTables()) != 6 {
		t.Error("lost for Windows")
	}
}

func TestTrustExtends(t *testing.T) {
	p := trustPolicy(t, "extends = ['profile:x']\n[server.mail]\npublic_source = false\n", Options{Extend: func(Extension) (string, []byte, error) {
		return "x", []byte(trustText), nil
	}})
	if p.FlowLevel() != Ask || p.TrustTables()[1].From != "profile:x" || p.ToolTrust("mail", []string{"list"}).Own != (Traits{No, Private, No, Forbidden}) {
		t.Errorf("%v %v", p.FlowLevel(), p.TrustTables())
	}
}

func TestTrustChange(t *testing.T) {
	p := trustPolicy(t, trustText, Options{})
	for _, c := range []struct {
		name, from, to string
		lost           int
		loosens        bool
	}{
		{"nothing", "", "", 0, false},
		{"a stricter level", `"ask"`, `"strict"`, 0, false},
		{"a laxer level", `"ask"`, `"watch"`, 1, true},
		{"a table is changed", "public_sink = true", "public_sink = false", 1, true},
		{"a table comes", "[flow]", "[server.x]\npublic_source=false\n[flow]", 0, true},
	} {
		next := trustPolicy(t, strings.Replace(trustText, c.from, c.to, 1), Options{})
		if got := p.ChangeTo(next); got != (Change{Loosens: c.loosens, Lost: c.lost}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestTrustRefuses(t *testing.T) {
	const forms = ` (write [server.NAME], [server.NAME.tool."GLOB"] for some of its tools, and [server.NAME.sandbox] for its cage)`
	for text, want := range map[string]string{
		"[server]":                      "1:1: [server] without a name" + forms,
		"[[server.x]]":                  "1:1: [[server]] must be [server.NAME]" + forms,
		"[server.'']":                   "1:1: the name of the server is empty" + forms,
		"[server.'*']":                  `1:1: "*" is not a name of a server (a server is named exactly, as the client's configuration does; a table for each)`,
		"[server.x.tools.a]":            `1:1: unknown table "server.x.tools.a"` + forms,
		"[server.x.tool]":               `1:1: unknown table "server.x.tool"` + forms,
		"[server.x.tool.'']":            `1:1: "" is not a glob of tools` + forms,
		"[server.x]\n[server.x]":        "2:1: the table is given twice (the first is on line 1)",
		"[server.x]\ntool.a.pin='off'":  `2:1: tool is a table of its own (write [server.x.tool."GLOB"])`,
		"[server.x]\npublic_sorce=true": `2:1: unknown key "public_sorce" in [server.x] (did you mean "public_source"?)`,
		"[server.x]\nfoo.bar=true":      `2:1: unknown key "foo.bar" in [server.x] (it has public_source, secret_data, public_sink, dangerous_writes, decides, weighs, pin)`,
		"[server.x]\npublic_source.a=1": "2:1: public_source is not a table (write public_source = VALUE)",
		"[server.x]\npublic_source=true\npublic_source=true": "3:1: public_source is given twice",
		"[server.x]\npublic_source=1":                        `2:1: public_source must be false, true, "forbidden", not a number`,
		"[server.x]\npublic_source='private'":                `2:1: unknown public_source "private" (write false, true, "forbidden")`,
		"[server.x]\nsecret_data='privat'":                   `2:1: unknown secret_data "privat" (did you mean "private"?)`,
		"[server.x]\nsecret_data='true'":                     `2:1: unknown secret_data "true" (write it without quotes)`,
		"[server.x]\npublic_sink='composed'":                 `2:1: public_sink = "composed" is not yet supported (write true: every call of the tool counts as one that carries data out)`,
		"[server.x]\npin=true":                               `2:1: pin must be a string, not a boolean (write "off", "record", "first", "ask", "lock")`,
		"[server.x]\npin='frist'":                            `2:1: unknown pin "frist" (did you mean "first"?)`,
		"[server.x]\npin=''":                                 `2:1: unknown pin "" (write "off", "record", "first", "ask", "lock")`,
		"[server.x.tool.a]\npin='ask'":                       "2:1: pin is of a server as a whole (write it in [server.x])",
		"[server.x]\ndecides='to'":                           `2:1: decides must be a list of names, not a string (write decides = ["to", "cc"])`,
		"[server.x]\nweighs='amount'":                        `2:1: weighs must be a list of names, not a string (write weighs = ["amount"])`,
		"[server.x]\ndecides=[1]":                            `2:1: decides must be a list of names, not of a number (write decides = ["to", "cc"])`,
		"[server.x]\ndecides=['']":                           `2:1: decides: "" is not a name of an argument (write decides = ["to", "cc"])`,
		"[[flow]]":                                           `1:1: [[flow]] must be [flow] (write [flow], and below it level = "ask")`,
		"[flow.x]":                                           `1:1: a table in [flow] (write [flow], and below it level = "ask")`,
		"[flow]":                                             `1:1: [flow] without a level (write [flow], and below it level = "ask")`,
		"[flow]\nlevel='ask'\n[flow]":                        "3:1: the table is given twice",
		"[flow]\nlevl='ask'":                                 `2:1: unknown key "levl" in [flow] (did you mean "level"?)`,
		"[flow]\nlevel.x='ask'":                              "2:1: level is not a table (write level = VALUE)",
		"[flow]\nlevel=1":                                    "2:1: level must be a string, not a number (one of off, watch, ask, strict)",
		"[flow]\nlevel='asc'":                                `2:1: unknown level "asc" (did you mean "ask"?)`,
		"[flow]\nlevel='ask'\nlevel='ask'":                   "3:1: level is given twice",
	} {
		_, err := Parse("p.toml", []byte(text), Options{})
		if err == nil || strings.TrimPrefix(err.Error(), "p.toml:") != want {
			t.Errorf("%q:\n got %v\nwant p.toml:%s", text, err, want)
		}
	}
}

// A layer can only tighten a pin; the first table that speaks of it counts, and no other
// server's.
func TestPin(t *testing.T) {
	for name, tt := range map[string]struct {
		own, layer string
		want       Pin
	}{
		"nothing":              {"", "", 0},
		"its own":              {`pin = "first"`, "", PinFirst},
		"switched off":         {`pin = "off"`, "", PinOff},
		"a layer tightens":     {`pin = "record"`, `pin = "lock"`, PinLock},
		"a layer says it":      {"", `pin = "ask"`, PinAsk},
		"a layer opens no pin": {`pin = "lock"`, `pin = "off"`, PinLock},
	} {
		layer, err := Parse("l.toml", []byte("[server.x]\n"+tt.layer+"\n"), Options{Layer: "organisation"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse("p.toml", []byte("[server.x]\n"+tt.own+"\n"), Options{Above: []*Policy{layer}})
		if err != nil {
			t.Fatal(err)
		}
		_, ruled := p.Screens(OnList)
		if got := p.Pin("x"); got != tt.want || p.HasPins() != (tt.want > PinOff) || ruled != p.HasPins() || p.Pin("y") != 0 || p.Pin("") != 0 {
			t.Errorf("%s: %d, %v, %v", name, got, p.HasPins(), ruled)
		}
		if tt.want > 0 && tt.want.String() == "" {
			t.Errorf("%s: no word", name)
		}
	}
}

// What is said of any tool of a server, by the policy or a layer, is the strictest.
func TestTrustOfAnyTool(t *testing.T) {
	layer, err := Parse("l.toml", []byte("[server.a]\nsecret_data = true\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse("p.toml", []byte("[server.a]\npublic_source = false\n[server.a.tool.\"x\"]\npublic_source = true\n[server.b]\npublic_sink = true\n"), Options{Above: []*Policy{layer}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.TrustAny("a"), (Traits{PublicSource: Yes, SecretData: Yes}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := p.TrustAny(""); got != (Traits{}) {
		t.Errorf("of no server %+v", got)
	}
}
