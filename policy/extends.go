package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
)

// Extension is one entry of a policy's extends: the name of a starter policy, or a file that is
// pinned by its hash.
type Extension struct {
	Profile string // NAME in "profile:NAME"; "" for a file
	File    string // as written; relative to the folder of Pos.File
	SHA256  string // hash of the file's text, in lower-case hexadecimal digits
	Pos     Position
}

const profilePrefix = "profile:"

// readExtends reads the entries of the key extends, which stands above every rule.
func (p *parser) readExtends(e toml.Expression) {
	const form = `write extends = ["profile:filesystem"], or [{ file = "team.toml", sha256 = "..." }]`
	start, end := e.Key[0].Start, e.Key[len(e.Key)-1].End
	switch {
	case len(e.Key) > 1:
		p.fail(start, end, "extends must be a list, not a table", form)
		return
	case p.extended:
		p.fail(start, end, "extends is given twice", "one list names all")
		return
	}
	p.extended = true
	if !e.Value.IsList() {
		p.fail(start, end, "extends must be a list, not "+e.Value.DescribeKind(), form)
		return
	}
	e.Value.EachElement(func(v toml.Value) {
		x := Extension{Pos: p.positionOf(start)}
		if from, to, known := v.Span(); known {
			start, end = from, to
			x.Pos = p.positionOf(from)
		}
		name, found := strings.CutPrefix(v.Text(), profilePrefix)
		switch {
		case v.IsString() && found && name != "":
			x.Profile = name
		case v.IsString():
			p.fail(start, end, fmt.Sprintf("%q is no profile", v.Text()), form)
			return
		case v.IsTable() && p.pinnedFile(v, &x):
		default:
			p.fail(start, end, "an entry of extends is a profile, or a file with its hash", form)
			return
		}
		p.extends = append(p.extends, x)
	})
}

// pinnedFile reads { file = "...", sha256 = "..." }.
func (p *parser) pinnedFile(v toml.Value, x *Extension) bool {
	whole := true
	v.EachPair(func(key []toml.KeyPart, value toml.Value) {
		to := map[string]*string{"file": &x.File, "sha256": &x.SHA256}[key[0].Name]
		if len(key) > 1 || to == nil || *to != "" || !value.IsString() {
			whole = false
			return
		}
		*to = value.Text()
	})
	x.SHA256 = strings.ToLower(x.SHA256)
	hexadecimal := strings.Trim(x.SHA256, "0123456789abcdef") == ""
	return whole && x.File != "" && len(x.SHA256) == 64 && hexadecimal
}

// applyExtends puts the rules of the extended texts below the policy's own rules, in the order
// of extends, and adds the limits and the trust tables of these texts. It returns the texts,
// because the revision covers them too.
//
// The last rule of a text is dropped if it denies every tool (withoutClosing). But a layer does
// not decide calls that none of its rules matches. So in a layer, such a last rule is put below
// the rules of all texts.
func (f *fileSource) applyExtends(o Options) ([][]byte, Errors) {
	var texts [][]byte
	var closing []ruleSource
	var closes Extension
	add := func(r ruleSource, from Extension) {
		r.Index, r.from = len(f.rules), from.String()
		f.rules = append(f.rules, r)
	}
	for _, x := range f.extends {
		fail := func(format string, a ...any) Errors {
			return Errors{&Error{Pos: x.Pos, Text: x.String(), Msg: fmt.Sprintf(format, a...)}}
		}
		if o.Extend == nil {
			return nil, fail("extends cannot be followed here")
		}
		name, src, err := o.Extend(x)
		if err != nil {
			return nil, fail("%v", err)
		}
		all, errs := parseFile(name, src)
		if len(errs) > 0 {
			return nil, append(fail("what it extends does not load"), errs...)
		}
		if len(all.extends) > 0 {
			return nil, fail("what it extends extends %s in turn, and only one step is followed", all.extends[0])
		}
		if len(all.packFiles) > 0 {
			return nil, fail("what it extends has packs, and those of a policy are its own: name %s here", all.packFiles[0].File)
		}
		for _, l := range all.limits {
			l.From = x.String()
			f.limits = append(f.limits, l)
		}
		for _, t := range all.trusts {
			t.From = x.String()
			f.trusts = append(f.trusts, t)
		}
		f.level = max(f.level, all.level)
		kept := withoutClosing(all.rules)
		for _, r := range kept {
			add(r, x)
		}
		if rest := all.rules[len(kept):]; o.Layer != "" && len(rest) > 0 {
			closing, closes = rest, x
		}
		texts = append(texts, src)
	}
	for _, r := range closing {
		add(r, closes)
	}
	return texts, nil
}

// withoutClosing drops a last rule that denies every tool, because no rule after it would ever
// match. In a policy that is no layer, a call without a match is denied in any case.
func withoutClosing(rules []ruleSource) []ruleSource {
	n := len(rules)
	if n == 0 {
		return nil
	}
	last := &rules[n-1]
	everything := slices.ContainsFunc(last.patterns, func(g string) bool { return g == "*" || g == "**" }) && !last.hasConditions()
	if last.Action == Deny && last.On == OnCall && last.subject == ToolSubject && everything {
		return rules[:n-1]
	}
	return rules
}

// String returns the entry as people name it.
func (x Extension) String() string {
	if x.Profile != "" {
		return profilePrefix + x.Profile
	}
	return x.File
}
