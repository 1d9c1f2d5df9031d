package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// trustKeys are the keys of a [server.NAME] and of a [server.NAME.tool."GLOB"].
var trustKeys = []string{"public_source", "secret_data", "public_sink", "dangerous_writes", "decides", "weighs", "pin"}

const (
	serverForm = `write [server.NAME], [server.NAME.tool."GLOB"] for some of its tools, and [server.NAME.sandbox] for its cage`
	flowForm   = `write [flow], and below it level = "ask"`
)

// openTrust reads a header that begins with server.
func (p *parser) openTrust(e toml.Expression) {
	p.endTable()
	name := argPath(nil, e.Key)
	fail := func(msg, hint string) { p.fail(e.Start, e.End, msg, hint) }
	switch {
	case e.Form == toml.TableArray:
		fail("[[server]] must be [server.NAME]", serverForm)
		return
	case len(name) == 1:
		fail("[server] without a name", serverForm)
		return
	case name[1] == "":
		fail("the name of the server is empty", serverForm)
		return
	case strings.ContainsAny(name[1], "*?"):
		fail(fmt.Sprintf("%q is not a name of a server", name[1]), "a server is named exactly, as the client's configuration does; a table for each")
		return
	case len(name) == 3 && name[2] == "sandbox":
		p.openCage(e, name)
		return
	case len(name) > 2 && (name[2] != "tool" || len(name) != 4):
		fail(fmt.Sprintf("unknown table %q", strings.Join(name, ".")), serverForm)
		return
	}
	t := TrustTable{Pos: p.positionOf(e.Start), Server: name[1]}
	if len(name) == 4 {
		if err := glob.Check(name[3]); err != nil || name[3] == "" {
			fail(fmt.Sprintf("%q is not a glob of tools", name[3]), serverForm)
			return
		}
		t.Tool = name[3]
		t.tool, _ = glob.Compile(t.Tool) // no error: the glob was checked above
	}
	for i := range p.trusts {
		if o := &p.trusts[i]; o.Server == t.Server && o.Tool == t.Tool {
			fail("the table is given twice", fmt.Sprintf("the first is on line %d", o.Pos.Line))
			return
		}
	}
	t.text = "[" + policytext.DottedKey(name[0], name[1:]...) + "]"
	p.trusts, p.scope, p.named = append(p.trusts, t), trustScope, nil
}

// trustField reads a pair below a header that begins with server.
func (p *parser) trustField(e toml.Expression) {
	first, last := e.Key[0], e.Key[len(e.Key)-1]
	t := &p.trusts[len(p.trusts)-1]
	switch first.Name {
	case "tool":
		p.fail(first.Start, last.End, "tool is a table of its own", `write [server.`+policytext.DottedKey(t.Server)+`.tool."GLOB"]`)
		return
	case "sandbox":
		p.fail(first.Start, last.End, "sandbox is a table of its own", `write [server.`+policytext.DottedKey(t.Server)+`.sandbox]`)
		return
	}
	word, ok := p.takeKey(e, "[server."+policytext.DottedKey(t.Server)+"]", trustKeys)
	if !ok {
		return
	}
	switch word {
	case "decides":
		t.Decides = p.readArgumentNames(t, word, e)
	case "weighs":
		t.Weighs = p.readArgumentNames(t, word, e)
	case "pin":
		p.readPin(t, e)
	default:
		p.readTrait(t, slices.Index(trustKeys, word), e)
	}
}

// readTrait reads false, true or a word.
func (p *parser) readTrait(t *TrustTable, at int, e toml.Expression) {
	words := []string{"forbidden"}
	name := trustKeys[at]
	if name == "secret_data" {
		words = []string{"private", "forbidden"}
	}
	choice := "false, true, " + listWords(policytext.QuoteAll(words))
	v := e.Value
	to := t.Traits.trustFields()[at]
	text := v.Text()
	switch {
	case v.IsBool() && text == "true":
		*to = Yes
	case v.IsBool():
		*to = No
	case !v.IsString():
		p.fail(e.Start, e.End, fmt.Sprintf("%s must be %s, not %s", name, choice, v.DescribeKind()), "")
		return
	case name == "public_sink" && text == "composed":
		p.fail(e.Start, e.End, `public_sink = "composed" is not yet supported`, "write true: every call of the tool counts as one that carries data out")
		return
	case !slices.Contains(words, text):
		hint := suggestWord(text, words, "write "+choice)
		if text == "true" || text == "false" {
			hint = "write it without quotes"
		}
		p.fail(e.Start, e.End, fmt.Sprintf("unknown %s %q", name, text), hint)
		return
	case text == "private":
		*to = Private
	default:
		*to = Forbidden
	}
	if v.IsString() {
		text = policytext.Quote(text)
	}
	t.text += "\n" + name + " = " + text
}

// readPin reads the key pin: how the server's lists are compared with the approved lists.
func (p *parser) readPin(t *TrustTable, e toml.Expression) {
	choice := "write " + listWords(policytext.QuoteAll(pinWords[PinOff:]))
	switch at := slices.Index(pinWords, e.Value.Text()); {
	case t.Tool != "":
		p.fail(e.Start, e.End, "pin is of a server as a whole", "write it in [server."+policytext.DottedKey(t.Server)+"]")
	case !e.Value.IsString():
		p.fail(e.Start, e.End, "pin must be a string, not "+e.Value.DescribeKind(), choice)
	case at < int(PinOff):
		p.fail(e.Start, e.End, fmt.Sprintf("unknown pin %q", e.Value.Text()), suggestWord(e.Value.Text(), pinWords[PinOff:], choice))
	default:
		t.Pin = Pin(at) //nolint:gosec // at is an index of one of six words
		t.text += "\npin = " + policytext.Quote(e.Value.Text())
	}
}

// readArgumentNames reads the value of a key of a table: the names of arguments.
func (p *parser) readArgumentNames(t *TrustTable, key string, e toml.Expression) []string {
	form := `write decides = ["to", "cc"]`
	if key == "weighs" {
		form = `write weighs = ["amount"]`
	}
	fail := func(msg string) { p.fail(e.Start, e.End, msg, form) }
	if !e.Value.IsList() {
		fail(key + " must be a list of names, not " + e.Value.DescribeKind())
		return nil
	}
	names := []string{}
	e.Value.EachElement(func(v toml.Value) {
		switch {
		case !v.IsString():
			fail(key + " must be a list of names, not of " + v.DescribeKind())
		case v.Text() == "" || strings.ContainsAny(v.Text(), "*?"):
			fail(fmt.Sprintf("%s: %q is not a name of an argument", key, v.Text()))
		default:
			names = append(names, v.Text())
		}
	})
	t.text += "\n" + key + " = " + policytext.FormatList(policytext.QuoteAll(names))
	return names
}

// openFlow reads the header [flow].
func (p *parser) openFlow(e toml.Expression) {
	p.endTable()
	switch {
	case e.Form == toml.TableArray:
		p.fail(e.Start, e.End, "[[flow]] must be [flow]", flowForm)
		return
	case len(e.Key) > 1:
		p.fail(e.Start, e.End, "a table in [flow]", flowForm)
		return
	case p.flowing > 0:
		p.fail(e.Start, e.End, "the table is given twice", "")
		return
	}
	p.flowing, p.scope, p.named = e.Start+1, flowScope, nil
}

// flowField reads a pair below [flow].
func (p *parser) flowField(e toml.Expression) {
	if _, ok := p.takeKey(e, "[flow]", []string{"level"}); !ok {
		return
	}
	p.levelled = true
	choice := "one of " + listWords(levelWords)
	if !e.Value.IsString() {
		p.fail(e.Start, e.End, "level must be a string, not "+e.Value.DescribeKind(), choice)
		return
	}
	i := slices.Index(levelWords, e.Value.Text())
	if i < 0 {
		p.fail(e.Start, e.End, fmt.Sprintf("unknown level %q", e.Value.Text()), suggestWord(e.Value.Text(), levelWords, choice))
		return
	}
	p.level = Level(i) //nolint:gosec // i is an index of one of four words
}

// closeFlow checks the complete table [flow], at the end of the file.
func (p *parser) closeFlow() {
	if p.flowing > 0 && !p.levelled && len(p.errs) == 0 {
		p.fail(p.flowing-1, p.flowing-1+len("[flow]"), "[flow] without a level", flowForm)
	}
}
