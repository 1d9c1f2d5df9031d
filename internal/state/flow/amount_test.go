package flow

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestAmounts(t *testing.T) {
	for text, want := range map[string]string{
		"send 13 to Ana":       "13",
		"007":                  "7",
		"12.50":                "12.5",
		"12,50 EUR":            "12.5",
		"$1,300.50":            "1300.5",
		"1.300,50€":            "1300.5",
		"1,300":                "1300 1.3",
		"1.300.000":            "1300000 1300",
		"1 300 EUR":            "1300 1 300",
		"1'300":                "1300",
		"100 5":                "100 5",
		"-5 or 3-5":            "-5 3 5",
		"from 10 to 20.":       "10 20",
		"v1.2.3":               "12.3",
		"0.00":                 "0",
		"no number":            "",
		"1\u00a0300\u202f5000": "1 300 5000",
	} {
		var all []string
		visitAmounts(text, func(amount string) { all = append(all, amount) })
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// An amount that the user has not typed is asked about, though the recipient is theirs; one that a
// person let go is asked about again only if it is another one.
func TestWeights(t *testing.T) {
	text := strings.Replace(ruleText, "decides = [\"to\"]\n", "decides = [\"to\"]\nweighs = [\"amount\"]\n", 1)
	text = strings.Replace(text, "public_sink = true\n[flow]", "public_sink = true\nweighs = [\"amount\"]\n[flow]", 1)
	p := parsed(t, text)
	if !slices.Equal(p.ToolTrust("mail", []string{"send"}).Weighs, []string{"amount"}) {
		t.Fatal(p.ToolTrust("mail", []string{"send"}))
	}
	for _, c := range []struct{ said, tool, args, want string }{
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","amount":13}`, "allow"},
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","amount":1300}`, `prompt: the user did not name "1300"`},
		{"Send it to bob@example.org", "send", `{"to":"bob@example.org","amount":13}`, `prompt: the user did not name "13"`},
		{"Send 1,300.50 to bob@example.org", "send", `{"to":"bob@example.org","amount":1300.5}`, "allow"},
		{"Send 1.300,50 to bob@example.org", "send", `{"to":"bob@example.org","amount":"1300.50 EUR"}`, "allow"},
		{"Send 1300 to bob@example.org", "send", `{"to":"bob@example.org","amount":1.3e3}`, "allow"},
		{"Send 1300 to bob@example.org", "send", `{"to":"bob@example.org","amount":"1.300"}`, "prompt"}, // it may be 1.3
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","amount":-13}`, "prompt"},
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","amount":[13,99]}`, "prompt"},
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","Amount":{"value":99}}`, "prompt"},
		{"Send 13 to bob@example.org", "send", `{"to":"bob@example.org","amount":"all of it"}`, "prompt"},
		{"Send it to bob@example.org", "send", `{"to":"bob@example.org"}`, "allow"},
		{"Send it to bob@example.org", "send", `{"to":"bob@example.org","amount":null}`, "allow"},
		{"Say hello 13 times", "say", `{"text":"hello","amount":13}`, "allow"},
		{"Say hello", "say", `{"text":"hello","amount":13}`, "prompt"},
	} {
		state := t.TempDir()
		house(t, state)
		session := New(state, []string{"session:1"})
		mail := session.NewServer("mail", "", noRow, p)
		if err := HearUser(state, []string{"session:1"}, c.said); err != nil {
			t.Fatal(err)
		}
		call := tool(c.tool, c.args)
		got := weighed(mail, call)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("after %q, %s: %s, want %s", c.said, c.args, got, c.want)
		}
		if strings.HasPrefix(got, "prompt") {
			mail.Allowed([]policy.Call{call})
			if got := weighed(mail, call); !strings.HasPrefix(got, "allow") {
				t.Errorf("a person let %s go: %s", c.args, got)
			}
			call.Args = []byte(strings.NewReplacer("13", "77", "1300", "77", "99", "77").Replace(c.args))
			if got := weighed(mail, call); string(call.Args) != c.args && !strings.HasPrefix(got, "prompt") {
				t.Errorf("a person let %s go, and %s: %s", c.args, call.Args, got)
			}
		}
		session.Close()
	}
}

// What stands beside an amount may make it another one; a currency does not.
func TestWhatStandsBesideAnAmount(t *testing.T) {
	p := parsed(t, strings.Replace(ruleText, "decides = [\"to\"]\n", "decides = [\"to\"]\nweighs = [\"amount\"]\n", 1))
	for _, c := range []struct{ said, amount, want string }{
		{"13", `"13k"`, "prompt"}, {"13", `"13 thousand"`, "prompt"}, {"13", `"13 million"`, "prompt"}, {"13", `"13M"`, "prompt"}, {"13", `"13%"`, "prompt"}, {"13", `"13*13"`, "prompt"}, {"13", `"13^13"`, "prompt"}, {"13", `"-13"`, "prompt"}, {"13", `"−13"`, "prompt"}, {"13", `"13e3"`, "prompt"}, {"13 and 3", `"13e3 EUR"`, "prompt"}, {"13 and 3", `"13E3"`, "prompt"}, {"13 and 3", `"13×10^3"`, "prompt"},
		{"13", `"13 Mio."`, "prompt"}, {"13", `"13 Tsd"`, "prompt"}, {"13", `"13 lakh"`, "prompt"}, {"13", `"13万"`, "prompt"}, {"13", `"13 per day"`, "prompt"}, {"13", `"13 times"`, "prompt"}, {"13", `"13 each"`, "prompt"}, {"13", `"１３００"`, "prompt"}, {"13", `"١٣٠٠"`, "prompt"}, {"13", `"13００"`, "prompt"}, {"13", `"thirteen"`, "prompt"}, {"13", `"all"`, "prompt"}, {"13", `"max"`, "prompt"}, {"13", `"0x13"`, "prompt"}, {"13", `"13,000"`, "prompt"}, {"13", `"13.000"`, "prompt"}, {"13", `"13 000"`, "prompt"}, {"13 and 0", `"13 000"`, "prompt"}, {"13", `"013"`, "allow"}, {"13", `{"value":13,"times":99}`, "prompt"}, {"13", `{"13":13,"99":13}`, "allow"}, {"13", `true`, "prompt"},
		{"13", `"13"`, "allow"}, {"13 EUR", `"13 EUR"`, "allow"}, {"13", `"EUR 13"`, "allow"}, {"13", `"13€"`, "allow"}, {"13", `"$13.00"`, "allow"}, {"13k", `"13k"`, "allow"}, {"13 thousand", `"13 thousand"`, "allow"}, {"13", `13.0`, "allow"}, {"1,300", `1300`, "allow"}, {"13", `" 13 "`, "allow"}, {"1300.5", `"1.300,50 €"`, "allow"}, {"13", `"13 euros"`, "allow"},
	} {
		state := t.TempDir()
		house(t, state)
		session := New(state, []string{"session:1"})
		mail := session.NewServer("mail", "", noRow, p)
		if err := HearUser(state, []string{"session:1"}, "Send "+c.said+" to bob@example.org"); err != nil {
			t.Fatal(err)
		}
		if got := weighed(mail, tool("send", `{"to":"bob@example.org","amount":`+c.amount+`}`)); !strings.HasPrefix(got, c.want) {
			t.Errorf("after %q, %s: %s", c.said, c.amount, got)
		}
		session.Close()
	}
}

// Whatever a text is, each of its amounts is a plain number.
func FuzzAmounts(f *testing.F) {
	f.Add("1,300.50 and 1 300, -5")
	f.Fuzz(func(t *testing.T, text string) {
		visitAmounts(text, func(amount string) {
			if strings.Trim(amount, "-0123456789.") != "" || strings.Count(amount, ".") > 1 || strings.HasSuffix(amount, ".") {
				t.Errorf("%q in %q", amount, text)
			}
		})
	})
}
