package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where/disk"
)

// cageKeys are the keys of a [server.NAME.sandbox].
var cageKeys = []string{"level", "read", "write", "hide", "net", "env", "exec"}

const cageForm = `write [server.NAME.sandbox], and below it level = "enforce"`

// openCage reads the header [server.NAME.sandbox].
func (p *parser) openCage(e toml.Expression, name []string) {
	t := CageTable{Pos: p.positionOf(e.Start), Server: name[1], text: "[" + policytext.DottedKey(name[0], name[1:]...) + "]"}
	for i := range p.cages {
		if o := &p.cages[i]; o.Server == t.Server {
			p.fail(e.Start, e.End, "the table is given twice", fmt.Sprintf("the first is on line %d", o.Pos.Line))
			return
		}
	}
	p.cages, p.scope, p.named, p.cageHeaders = append(p.cages, t), cageScope, nil, append(p.cageHeaders, e)
}

// cageField reads a pair below [server.NAME.sandbox].
func (p *parser) cageField(e toml.Expression) {
	t := &p.cages[len(p.cages)-1]
	word, ok := p.takeKey(e, "[server."+policytext.DottedKey(t.Server)+".sandbox]", cageKeys)
	if !ok {
		return
	}
	switch word {
	case "level":
		p.readCageLevel(t, e)
	case "read":
		t.Read = p.readCageList(t, e, cagePlace)
	case "write":
		t.Write = p.readCageList(t, e, cageWritable)
	case "hide":
		t.Hide = p.readCageList(t, e, cagePlace)
	case "net":
		t.Net = p.readCageList(t, e, cageHost)
	case "env":
		t.Env = p.readCageList(t, e, cageVariable)
	default:
		p.readCageExec(t, e)
	}
}

func (p *parser) readCageLevel(t *CageTable, e toml.Expression) {
	choice := "write " + listWords(policytext.QuoteAll(cageWords[CageOff:]))
	text := e.Value.Text()
	switch at := slices.Index(cageWords, text); {
	case !e.Value.IsString():
		p.fail(e.Start, e.End, "level must be a string, not "+e.Value.DescribeKind(), choice)
	case at < int(CageOff):
		p.fail(e.Start, e.End, fmt.Sprintf("unknown level %q", text), suggestWord(text, cageWords[CageOff:], choice))
	default:
		t.Level = CageLevel(at) //nolint:gosec // at is an index of one of four words
		t.text += "\nlevel = " + policytext.Quote(text)
	}
}

func (p *parser) readCageExec(t *CageTable, e toml.Expression) {
	if !e.Value.IsBool() {
		p.fail(e.Start, e.End, "exec must be true or false, not "+e.Value.DescribeKind(), "")
		return
	}
	t.Exec = No
	if e.Value.Text() == "true" {
		t.Exec = Yes
	}
	t.text += "\nexec = " + e.Value.Text()
}

// readCageList reads a list of strings. The function read converts each string to the form that the
// cage uses. If a cage cannot use the string, read returns an error message and a hint.
func (p *parser) readCageList(t *CageTable, e toml.Expression, read func(string) (entry, msg, hint string)) []string {
	key := e.Key[0].Name
	if !e.Value.IsList() {
		p.fail(e.Start, e.End, key+" must be a list of strings, not "+e.Value.DescribeKind(), "")
		return nil
	}
	all := []string{}
	e.Value.EachElement(func(v toml.Value) {
		if !v.IsString() {
			p.fail(e.Start, e.End, key+" must be a list of strings, not of "+v.DescribeKind(), "")
			return
		}
		entry, msg, hint := read(v.Text())
		if msg != "" {
			p.fail(e.Start, e.End, key+": "+msg, hint)
			return
		}
		all = append(all, entry)
	})
	if key == "net" && len(all) > 1 && slices.Contains(all, AnyHost) {
		p.fail(e.Start, e.End, `net: "*" already means every host, so write nothing else in the list`, "")
	}
	t.text += "\n" + key + " = " + policytext.FormatList(policytext.QuoteAll(all))
	return all
}

// ParsePlace reads a place of a sandbox that comes from outside a policy. It returns the place in
// the form that policies use.
func ParsePlace(text string) (string, error) {
	place, msg, _ := cagePlace(text)
	if msg != "" {
		return "", errors.New(msg)
	}
	return place, nil
}

// cagePlace reads a place in the form of the constraint under. It also accepts ./ for the folder in
// which the server starts. It removes /** at the end, because a folder always includes everything
// below it.
func cagePlace(text string) (place, msg, hint string) {
	place = strings.TrimSuffix(text, "/**")
	switch {
	case place == "" && text != "":
		place = "/"
	case place == ".", strings.HasPrefix(place, "./"):
		place = "${cwd}" + place[1:]
	}
	if err := disk.CheckFolder(place); err != nil {
		return "", err.Error(), "write a file or a folder; a folder includes everything in it"
	}
	if slices.Contains(strings.Split(place, "/"), "..") {
		return "", fmt.Sprintf("%q leads out of its folder by ..", text), "write the folder that it leads to"
	}
	if place != "/" {
		place = strings.TrimRight(place, "/")
	}
	return place, "", ""
}

// cageWritable reads a place that the server may write.
func cageWritable(text string) (place, msg, hint string) {
	place, msg, hint = cagePlace(text)
	if place == "/" || place == "~" {
		return "", fmt.Sprintf("%q holds files that your shell and your programs run", text), "name the folders in it that the server must write"
	}
	return place, msg, hint
}

// cageHost reads a host, perhaps with a port.
func cageHost(text string) (host, msg, hint string) {
	if text == AnyHost {
		return text, "", ""
	}
	e, err := hostlist.ParseEntry(text)
	if err != nil {
		return "", fmt.Sprintf("%q is not a host: %v", text, err), `write "api.example.com", "*.example.com", "example.com:8443" or an address, without scheme and path`
	}
	return e.String(), "", ""
}

// cageVariable reads the name of a variable.
func cageVariable(text string) (name, msg, hint string) {
	letters := strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	if !letters || text == "" || text[0]-'0' < 10 {
		return "", fmt.Sprintf("%q is not the name of a variable", text), "write each name in full; patterns are not possible"
	}
	return text, "", ""
}

// closeCages checks each complete [server.NAME.sandbox], at the end of the file.
func (p *parser) closeCages() {
	for i := range p.cages {
		if e := p.cageHeaders[i]; p.cages[i].Level == 0 && len(p.errs) == 0 {
			p.fail(e.Start, e.End, "[server."+policytext.DottedKey(p.cages[i].Server)+".sandbox] without a level", cageForm)
		}
	}
}
