package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy"
)

func layered(t testing.TB, user string, layers ...string) *policy.Policy {
	t.Helper()
	o := policy.Options{Home: "/home/user"}
	for i, src := range layers {
		l, err := policy.Parse(fmt.Sprintf("layer%d.toml", i), []byte(src), policy.Options{Home: "/home/user", Layer: fmt.Sprintf("layer%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		o.Above = append(o.Above, l)
	}
	p, err := policy.Parse("user.toml", []byte(user), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func one(action, tool, more string) string {
	return fmt.Sprintf("[[rule]]\naction = %q\ntool = %q\n%s\n", action, tool, more)
}

func TestLayers(t *testing.T) {
	const user, org = "user.toml", "layer0.toml"
	for _, c := range []struct {
		name, user, org string
		args            string
		want            policy.Action
		file            string // of the rule that decides
	}{
		{"nothing to say", one("allow", "x", ""), one("deny", "y", ""), "", policy.Allow, user},
		{"an allow adds nothing", one("deny", "x", ""), one("allow", "x", ""), "", policy.Deny, user},
		{"an allow is not enough", one("allow", "y", ""), one("allow", "x", ""), "", policy.Deny, ""},
		{"it denies", one("allow", "x", ""), one("deny", "x", ""), "", policy.Deny, org},
		{"it asks", one("allow", "x", ""), one("prompt", "x", ""), "", policy.Prompt, org},
		{"both ask: an answer about the owner's own would not do", one("prompt", "x", ""), one("prompt", "x", ""), "", policy.Prompt, org},
		{"both ask, one past the client", one("prompt", "x", `ask = "out-of-band"`), one("prompt", "x", ""), "", policy.Prompt, user},
		{"the owner denies what it asks about", one("deny", "x", ""), one("prompt", "x", ""), "", policy.Deny, user},
		{"both deny", one("deny", "x", ""), one("deny", "x", ""), "", policy.Deny, user},
		{"one element of a list", one("allow", "x", ""), one("deny", "x", `args.p = "/secret/**"`), `{"p":["/a","/secret/b"]}`, policy.Deny, org},
		{"its own allow shields from its own deny", one("allow", "x", ""), one("allow", "x", `args.p = "/secret/ok"`) + one("deny", "x", `args.p = "/secret/**"`), `{"p":"/secret/ok"}`, policy.Allow, user},
		{"another reading", one("allow", "x", ""), one("deny", "x", `args.p = "/secret/**"`), `{"p":"/a/../secret/b"}`, policy.Deny, org},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := layered(t, c.user, c.org)
			d := p.Decide(&policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"x"}, Args: []byte(c.args)})
			file := ""
			if d.Rule != nil {
				file = d.Rule.Pos.File
			}
			if d.Action != c.want || file != c.file {
				t.Errorf("%v by %q, want %v by %q", d.Action, file, c.want, c.file)
			}
		})
	}
}

// A policy is never opened by what stands over it, and what a layer says by
// itself is never passed by.
func TestLayersOnlyTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			var b strings.Builder
			for range rapid.IntRange(0, 4).Draw(t, name) {
				more := ""
				if rapid.Bool().Draw(t, "args") {
					more = fmt.Sprintf("args.p = %q", rapid.SampledFrom([]string{"/a/**", "/a/b", "**", "b"}).Draw(t, "glob"))
				}
				b.WriteString(one(rapid.SampledFrom([]string{"allow", "deny", "prompt"}).Draw(t, "action"), rapid.SampledFrom([]string{"x", "*", "y"}).Draw(t, "tool"), more))
			}
			return b.String()
		}
		parse := func(src string, o policy.Options) *policy.Policy {
			p, err := policy.Parse("p.toml", []byte(src), o)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		user, above := draw("user"), draw("above")
		layer := parse(above, policy.Options{Layer: "above"})
		c := &policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"x"},
			Args: []byte(rapid.SampledFrom([]string{``, `{"p":"/a/b"}`, `{"p":["/a/c","b"]}`, `{"p":"../a/b"}`}).Draw(t, "args"))}
		both, alone, over := parse(user, policy.Options{Above: []*policy.Policy{layer}}).Decide(c), parse(user, policy.Options{}).Decide(c), layer.Decide(c)
		if want := min(alone.Action, over.Action); both.Action != want {
			t.Fatalf("%v, by itself %v, the layer %v\n%s---\n%s", both.Action, alone.Action, over.Action, user, above)
		}
	})
}

func TestWhatLayersNeed(t *testing.T) {
	p := layered(t, one("allow", "x", ""), one("allow", "x", "limit = \"2/min\"\nwhen = { zone = \"UTC\", from = \"09:00\", to = \"17:00\" }\nwhere.p = { under = [\"/a\"] }"))
	if !p.Timed() || !p.AsksDisk() {
		t.Error("a layer's needs are not its policy's")
	}
	other := layered(t, one("allow", "x", ""), one("deny", "y", ""))
	if other.Timed() || other.AsksDisk() {
		t.Error("needs of nobody")
	}
	if p.Revision() == other.Revision() || len(p.Layers()) != 1 || p.Layers()[0].LayerName() != "layer0" || p.Layers()[0].FileName() != "layer0.toml" || p.LayerName() != "" {
		t.Error("the layers are not told apart")
	}
	limited := layered(t, one("allow", "x", ""), one("allow", "x", `limit = "2/min"`))
	c := policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}, Facts: policy.Facts{At: time.Now()}}
	if d := limited.Decide(&c); d.Action != policy.Allow || len(d.Rates) != 1 {
		t.Errorf("%v, %d limits", d.Action, len(d.Rates))
	}
	denied := layered(t, one("allow", "x", `limit = "2/min"`), one("deny", "x", ""))
	if d := denied.Decide(&c); d.Action != policy.Deny || d.Rates != nil {
		t.Errorf("%v, %d limits", d.Action, len(d.Rates))
	}
}
