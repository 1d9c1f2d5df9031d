package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/policy/internal/toml"
)

// Extension is one entry of a policy's extends: the name of a starter policy, or a file that is
// pinned by its hash.
type Extension struct {
	Profile string // NAME in "profile:NAME"; "" for a file
	File    string // the path as written, relative to the folder of Pos.File
	SHA256  string // hash of the text, in lower-case hexadecimal digits; "" for a profile that is not pinned
	// The entry is an [[extends]] table. Its rules stand at the table's place in the file. Without
	// InPlace a profile also brings the rules that all profiles share.
	InPlace bool
	Pos     Position

	// The value of the key server: the entry's rules judge only these servers. nil if the entry has
	// no key server; then each rule names its own servers.
	servers *Stated
	end     int // offset in the file where the entry ends
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
			p.fail(start, end, fmt.Sprintf("%q is not a profile", v.Text()), form)
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
	return whole && x.File != "" && isSHA256(x.SHA256)
}

// extensionKeys are the keys of an [[extends]].
var extensionKeys = []string{"profile", "file", "sha256", "server"}

const extensionForm = `write [[extends]], and below it profile = "filesystem" and server = "NAME"`

// openExtension starts an [[extends]] at its header.
func (p *parser) openExtension(e toml.Expression) {
	p.endTable()
	switch {
	case e.Form == toml.Table:
		p.fail(e.Start, e.End, "[extends] must be [[extends]]", "a policy may have several")
		return
	case p.extended:
		p.fail(e.Start, e.End, "[[extends]] beside a list extends", "either one list above every [[rule]], or tables")
		return
	}
	p.extending, p.named, p.scope = true, nil, extendsScope
	p.extends = append(p.extends, Extension{InPlace: true, Pos: p.positionOf(e.Start), end: e.End})
}

// extensionField reads one key and its value in an [[extends]].
func (p *parser) extensionField(e toml.Expression) {
	x := &p.extends[len(p.extends)-1]
	x.end = e.End
	word, ok := p.takeKey(e, "[[extends]]", extensionKeys)
	to := map[string]*string{"profile": &x.Profile, "file": &x.File, "sha256": &x.SHA256}[word]
	switch {
	case !ok:
	case word == "server":
		x.servers = p.readServers(e)
	case !e.Value.IsString() || e.Value.Text() == "":
		p.fail(e.Start, e.End, word+" must be a text", extensionForm)
	default:
		*to = e.Value.Text()
	}
}

// closeExtension checks a complete [[extends]].
func (p *parser) closeExtension() {
	if !p.extending {
		return
	}
	p.extending = false
	x := &p.extends[len(p.extends)-1]
	x.SHA256 = strings.ToLower(x.SHA256)
	fail := func(msg, hint string) {
		p.errs = append(p.errs, &Error{Pos: x.Pos, Text: "[[extends]]", Msg: msg, Hint: hint})
	}
	switch {
	case p.broken || len(p.errs) > 0:
	case (x.Profile == "") == (x.File == ""):
		fail("an [[extends]] names a profile, or a file", extensionForm)
	case strings.Trim(x.Profile, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		fail(fmt.Sprintf("%q is not a name of a profile", x.Profile), "see: clawai policy init --list")
	case x.SHA256 == "" && x.File != "":
		fail("a file without its hash", `write sha256 = "...", so that nobody changes your rules by changing the file`)
	case x.SHA256 != "" && !isSHA256(x.SHA256):
		fail("sha256 is not 64 hexadecimal digits", "")
	}
}

// readServers reads the key server of an [[extends]].
func (p *parser) readServers(e toml.Expression) *Stated {
	globs := p.readGlobs(label{key: serverKey}, e.Key, e.Value)
	if globs == nil {
		return nil
	}
	s := keys[serverKey].call.statedGlobs(slices.Clone(globs), nil)
	return &s
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// applyExtends adds the rules of the extended texts. The rules of a list stand below the policy's
// own rules, in the order of the list. The rules of an [[extends]] stand at its place in the file.
// A rule of the policy with the key "above" stands directly above the extended rule that it names.
// applyExtends also adds the limits and the trust tables of these texts. It returns the digests of
// these texts, because the revision covers them too.
//
// The last rule of a text is dropped if it denies every tool (withoutClosing). A layer does not
// decide a call that no rule of the layer matches. So in a layer, applyExtends does not drop this
// last rule, but puts it below the rules of all texts.
func (f *fileSource) applyExtends(o Options) ([][sha256.Size]byte, Errors) {
	if len(f.extends) == 0 && !f.anchored {
		return nil, nil
	}
	all := make([]fileSource, len(f.extends))
	sums := make([][sha256.Size]byte, len(f.extends))
	wrong := make([]Errors, len(f.extends))
	shareWork(len(f.extends), func(i int) { all[i], sums[i], wrong[i] = f.extends[i].read(o, f.folders) })
	total := len(f.rules)
	for i := range f.extends {
		if len(wrong[i]) > 0 {
			return nil, wrong[i]
		}
		total += len(all[i].rules)
	}
	m := merger{own: f.rules, rules: make([]ruleSource, 0, total)}
	if f.anchored {
		m.anchored, m.named, m.entries = map[anchor][]int{}, make([]int, len(f.rules)), map[string]int{}
		for i := range f.rules {
			if r := &f.rules[i]; r.above != "" {
				at := anchor{r.entries, r.above}
				m.anchored[at] = append(m.anchored[at], i)
			}
		}
	}
	var closing []ruleSource
	var closes *Extension
	for i := range f.extends {
		x := &f.extends[i]
		for _, l := range all[i].limits {
			l.From = x.String()
			f.limits = append(f.limits, l)
		}
		for _, t := range all[i].trusts {
			t.From = x.String()
			f.trusts = append(f.trusts, t)
		}
		for _, t := range all[i].cages {
			t.From = x.String()
			f.cages = append(f.cages, t)
		}
		for _, l := range all[i].folders {
			if l.From = x.String(); x.Profile == "" || findList(f.folders, l.Name) == nil {
				f.folders = append(f.folders, l)
			}
		}
		f.level = max(f.level, all[i].level)
		kept := withoutClosing(all[i].rules)
		m.addExtension(x, i, kept)
		if rest := all[i].rules[len(kept):]; o.Layer != "" && len(rest) > 0 {
			closing, closes = rest, x
		}
	}
	m.addOwn(len(f.extends))
	for i := range closing {
		if closes.bindRule(&closing[i], closes.String()) {
			m.add(&closing[i])
		}
	}
	f.rules = m.rules
	return sums, m.checkAnchors(f.extends)
}

// read returns the rules of an entry's text, and the digest of the text. In a profile, the folder
// lists of the extending policy (owners) replace the profile's own.
func (x *Extension) read(o Options, owners []FolderList) (all fileSource, sum [sha256.Size]byte, errs Errors) {
	fail := func(format string, a ...any) Errors {
		return Errors{&Error{Pos: x.Pos, Text: x.String(), Msg: fmt.Sprintf(format, a...)}}
	}
	if o.Extend == nil {
		return all, sum, fail("extends cannot be followed here")
	}
	name, src, err := o.Extend(*x)
	if err != nil {
		return all, sum, fail("%v", err)
	}
	if x.SHA256 == "" {
		sum = sha256.Sum256(src)
	} else {
		_, _ = hex.Decode(sum[:], []byte(x.SHA256)) // no error: the parser has checked the digits
	}
	if x.Profile == "" {
		owners = nil
	}
	all, errs = parseFile(name, src, owners)
	for i := range all.rules {
		r := &all.rules[i]
		if slices.ContainsFunc(r.names, func(name string) bool { return findList(owners, name) == nil }) {
			r.writeOut()
		}
	}
	switch {
	case len(errs) > 0:
		errs = append(fail("what it extends does not load"), errs...)
	case len(all.extends) > 0:
		errs = fail("what it extends extends %s in turn, and only one step is followed", all.extends[0].String())
	case all.anchored:
		errs = fail("what it extends has a rule with the key above, which is for the policy's own rules")
	case all.environment.name != "":
		errs = fail("what it extends has env, and only an organisation's policy itself says where this machine works")
	case len(all.packFiles) > 0:
		errs = fail("what it extends has packs, and those of a policy are its own: name %s here", all.packFiles[0].File)
	}
	return all, sum, errs
}

// shareWork calls work for 0 to n-1, in two goroutines if there are several processors: a proxy starts
// when its policy is read, and meanwhile the second processor would have nothing to do. The order of
// the calls is not fixed. A panic of work goes to the caller.
func shareWork(n int, work func(i int)) {
	var next atomic.Int32
	workOn := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			work(i)
		}
	}
	var beside sync.WaitGroup
	var panicked any
	if n > 1 && runtime.GOMAXPROCS(0) > 1 {
		beside.Go(func() {
			defer func() { panicked = recover() }()
			workOn()
		})
	}
	workOn()
	beside.Wait()
	if panicked != nil {
		panic(panicked)
	}
}

// merger joins the policy's own rules and the rules of the extended texts into one list.
type merger struct {
	own   []ruleSource
	next  int // index of the first own rule that is not added yet
	rules []ruleSource

	anchored map[anchor][]int // the indexes of the own rules with the key "above", in order, by the value of the key
	named    []int            // by index of an own rule: the number of extended rules that this rule names in its key "above"
	// By name of an extended rule: the number (from 1) of the last [[extends]] that has a rule with
	// this name.
	entries map[string]int
}

// anchor is the value of the key "above": the name of a rule in one [[extends]].
type anchor struct {
	entries int
	name    string
}

func (m *merger) add(r *ruleSource) {
	m.rules = append(m.rules, *r)
	m.rules[len(m.rules)-1].Index = len(m.rules) - 1
}

// bindRule marks a rule as a rule of the entry x. The parameter from is the name of the entry.
// bindRule returns false if the rule and the entry have no server in common.
func (x *Extension) bindRule(r *ruleSource, from string) bool {
	r.from = from
	if x.servers == nil {
		return true
	}
	if own := r.conditionFor(ruleKeys[serverKey]); own != nil {
		return mayMeet(own.Globs, x.servers.Globs)
	}
	r.setCondition(serverKey, *x.servers)
	return true
}

// addOwn adds the own rules that stand above an [[extends]] in the file. entry is the index of the
// [[extends]], or 0 for an entry in a list.
func (m *merger) addOwn(entry int) {
	for ; m.next < len(m.own) && m.own[m.next].entries <= entry; m.next++ {
		if m.own[m.next].above == "" {
			m.add(&m.own[m.next])
		}
	}
}

// addExtension adds the rules of an entry. An own rule that names a rule of the entry in its key
// "above" goes directly above that rule.
func (m *merger) addExtension(x *Extension, entry int, rules []ruleSource) {
	m.addOwn(entry)
	anchors, from := anchorNames{}, x.String()
	for i := range rules {
		r := &rules[i]
		if !x.bindRule(r, from) {
			continue
		}
		if x.InPlace {
			r.entries = entry + 1
			m.addAnchored(r, anchors)
		}
		m.add(r)
	}
}

// addAnchored adds the own rules whose key "above" names the extended rule r.
func (m *merger) addAnchored(r *ruleSource, anchors anchorNames) {
	if m.anchored == nil {
		return
	}
	name := anchors.nameRule(r)
	m.entries[name] = r.entries
	for _, i := range m.anchored[anchor{r.entries, name}] {
		m.add(&m.own[i])
		m.named[i]++
	}
}

// checkAnchors reports each own rule whose key "above" names no rule, or more than one.
func (m *merger) checkAnchors(extends []Extension) (errs Errors) {
	for i := range m.named {
		r := &m.own[i]
		if r.above == "" || m.named[i] == 1 {
			continue
		}
		text := "no rule"
		if m.named[i] > 1 {
			text = "more than one rule"
		}
		e := &Error{Pos: r.Pos, Text: "[[rule]]", Msg: fmt.Sprintf("%s of the [[extends]] above it is described as %q", text, r.above), Hint: `above = "DESCRIPTION" names the rule that this one stands above`}
		if other := m.entries[r.above]; m.named[i] == 0 && other > 0 && r.entries > 0 {
			near, x := &extends[r.entries-1], &extends[other-1]
			e.Msg = fmt.Sprintf("the nearest [[extends]] above it, %s on line %d, has no rule described as %q; %s on line %d has one", near, near.Pos.Line, r.above, x, x.Pos.Line)
			e.Hint = fmt.Sprintf("put this rule directly below the [[extends]] on line %d, above the next one", x.Pos.Line)
		}
		errs = append(errs, e)
	}
	return errs
}

// anchorNames names the rules of one [[extends]] for the key "above". It counts how many rules have
// each description.
type anchorNames map[string]int

// nameRule returns the name of the next rule: the rule's description, and a number if an earlier
// rule has the same description. A rule without a description gets the name "".
func (a anchorNames) nameRule(r *ruleSource) string {
	if r.Description == "" {
		return ""
	}
	a[r.Description]++
	if n := a[r.Description]; n > 1 {
		return fmt.Sprintf("%s (%d)", r.Description, n)
	}
	return r.Description
}

// listAnchors returns the name of each rule for the key "above", by the rule's index. The name is
// "" if the key cannot name the rule. listAnchors returns nil if all names are "".
func (p *Policy) listAnchors() []string {
	var all []string
	var names anchorNames
	entries := 0
	for i := range p.sources {
		r := &p.sources[i]
		if r.from == "" || r.entries == 0 {
			continue
		}
		if all == nil {
			all = make([]string, len(p.sources))
		}
		if r.entries != entries {
			entries, names = r.entries, anchorNames{}
		}
		all[i] = names.nameRule(r)
	}
	return all
}

// anchorOf returns the name by which the key "above" names the rule with this index.
func (p *Policy) anchorOf(index int) string {
	if all := p.listAnchors(); all != nil {
		return all[index]
	}
	return ""
}

// mayMeet reports whether there may be a server whose name matches a glob of the first list and a
// glob of the second list.
func mayMeet(some, others []string) bool {
	isGlob := func(s string) bool { return strings.ContainsAny(s, `*?[{\`) }
	return slices.ContainsFunc(some, func(a string) bool {
		return slices.ContainsFunc(others, func(b string) bool { return a == b || isGlob(a) || isGlob(b) })
	})
}

// withoutClosing returns rules without the last rule, if the last rule denies every tool: no rule
// after it would ever match. A policy that is not a layer does not need this last rule, because it
// denies every call without a match.
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

// Servers returns the servers that the entry's rules are about; nil if the entry has no key server
// and each rule names its own servers.
func (x Extension) Servers() []string {
	if x.servers == nil {
		return nil
	}
	return x.servers.Globs
}

// Extensions returns the entries of a policy's extends; none if the file itself does not load.
func Extensions(file string, src []byte) []Extension {
	f, _ := parseFile(file, src, nil)
	return f.extends
}

// String returns the entry as people name it.
func (x Extension) String() string {
	if x.Profile != "" {
		return profilePrefix + x.Profile
	}
	return x.File
}
