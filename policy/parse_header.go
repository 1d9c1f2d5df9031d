package policy

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// fileTables are the names of the tables that a policy may have.
var fileTables = []string{"rule", "limit", "server", "flow", "folders", "extends"}

const onlyTables = "a policy holds only [[rule]], [[limit]] and [[extends]] tables, [server.NAME], [flow] and [folders]"

// readHeader reads a [table] or [[list of tables]].
func (p *parser) readHeader(e toml.Expression) {
	p.scope = refusedScope
	first := e.Key[0]
	name := first.Name
	alone := len(e.Key) == 1
	switch {
	case name == "rule" && alone:
		if e.Form == toml.Table {
			p.fail(e.Start, e.End, "[rule] must be [[rule]]", "a policy is a list of rules")
		}
		p.openRule(e)
	case name == "rule":
		p.ruleTable(e)
	case name == "limit" && alone:
		p.openLimit(e)
	case name == "limit":
		p.fail(e.Start, e.End, "a table in a limit", "its keys stand below [[limit]]")
	case name == "server":
		p.openTrust(e)
	case name == "flow":
		p.openFlow(e)
	case name == "folders":
		p.openFolders(e)
	case name == "extends" && alone:
		p.openExtension(e)
	case name == "extends":
		p.fail(e.Start, e.End, "a table in an [[extends]]", extensionForm)
	case name == "packs":
		p.fail(e.Start, e.End, "packs is a list above every [[rule]]", packsForm)
	case alone && nearestWord(name, []string{"rule"}) != "":
		p.fail(e.Start, e.End, fmt.Sprintf("unknown table %q", name), "did you mean [[rule]]?")
		p.openRule(e)
	default:
		p.fail(e.Start, e.End, fmt.Sprintf("unknown table %q", name), suggestWord(name, fileTables[1:], onlyTables))
	}
}

// ruleTable reads the header of a table inside the current rule: [rule.args] and below.
func (p *parser) ruleTable(e toml.Expression) {
	second := e.Key[1]
	name := second.Name
	k := findKey(second.Name)
	switch {
	case !p.open:
		p.fail(e.Start, e.End, "table of a rule above every [[rule]]", "put [[rule]] on a line before it")
	case k == noKey:
		p.unknownKey(second)
	case keys[k].table == fileScope:
		p.fail(second.Start, second.End, name+" must be a string, not a table", "")
		p.markGiven(k, second)
	case e.Form == toml.TableArray:
		p.fail(e.Start, e.End, fmt.Sprintf("[[rule.%s]] must be [rule.%s]", name, name), "")
		p.markGiven(k, second)
		p.arguments++
		p.typed++
	case keys[k].table == partsScope && len(e.Key) > 2:
		p.rejectTable(k, e.Start, e.End)
		p.markGiven(k, second)
	default:
		p.markGiven(k, second)
		p.scope, p.table, p.prefix, p.tables = keys[k].table, k, argPath(nil, e.Key[2:]), true
		p.currentRule().end = e.End
	}
}

// filePair reads a pair at the top of the file, before any table.
func (p *parser) filePair(e toml.Expression) {
	first := e.Key[0]
	name := first.Name
	switch {
	case name == "extends":
		p.readExtends(e)
	case name == "packs":
		p.readPacks(e)
	case name == "env":
		p.readEnvironment(e)
	case name == "server":
		p.fail(first.Start, e.Key[len(e.Key)-1].End, "server is a table", serverForm)
	case name == "flow":
		p.fail(first.Start, e.Key[len(e.Key)-1].End, "flow is a table", flowForm)
	case name == "folders":
		p.fail(first.Start, e.Key[len(e.Key)-1].End, "folders is a table", foldersForm)
	case name == "rule":
		p.fail(first.Start, first.End, "rules must be written as [[rule]] tables", "put [[rule]] above the keys of each")
	case findKey(first.Name) == limitKey:
		p.fail(first.Start, first.End, `"limit" must be above every [[rule]]`, "one over all tools is a table: write [[limit]]")
	case findKey(first.Name) != noKey:
		p.fail(first.Start, first.End, fmt.Sprintf("%q must be above every [[rule]]", name), "put [[rule]] on a line before it")
	default:
		p.fail(first.Start, first.End, fmt.Sprintf("unknown key %q", name), onlyTables)
	}
}

// takeKey returns the key of a pair in a table of the file, and notes it in p.named. It returns
// false for a key that is unknown, that is a table, or that the table already has.
func (p *parser) takeKey(e toml.Expression, table string, known []string) (word string, ok bool) {
	first, last := e.Key[0], e.Key[len(e.Key)-1]
	switch word = first.Name; {
	case !slices.Contains(known, word):
		p.fail(first.Start, last.End, fmt.Sprintf("unknown key %q in %s", policytext.DottedKey(word, argPath(nil, e.Key[1:])...), table), suggestWord(word, known, "it has "+listWords(known)))
	case len(e.Key) > 1:
		p.fail(first.Start, last.End, word+" is not a table", "write "+word+" = VALUE")
	case slices.Contains(p.named, word):
		p.fail(first.Start, first.End, word+" is given twice", "")
	default:
		p.named = append(p.named, word)
		return word, true
	}
	return word, false
}

// openRule starts a rule at its header.
func (p *parser) openRule(e toml.Expression) {
	p.endTable()
	p.open, p.acts, p.broken, p.scope = true, false, false, ruleScope
	clear(p.given)
	clear(p.whole)
	p.arguments, p.typed, p.when, p.limit = 0, 0, whenParts{}, limitParts{}
	p.rules = append(p.rules, ruleSource{start: e.Start, end: e.End, lists: p.knownLists()})
	r := p.currentRule()
	r.Pos, r.Index = p.positionOf(e.Start), len(p.rules)-1
	if !p.extended {
		r.entries = len(p.extends)
	}
}

// endTable ends the table that is being read.
func (p *parser) endTable() {
	p.closeRule()
	p.closeTable()
	p.closeExtension()
}

// closeRule makes the checks that need the complete rule.
func (p *parser) closeRule() {
	if !p.open {
		return
	}
	p.open = false
	r := p.currentRule()
	if !p.broken && p.given[actionKey] == 0 {
		p.failRule("rule without an action", `add action = "allow", "deny" or "prompt"`)
	}
	if !p.broken && r.subject == NoSubject && r.On == OnCall {
		p.failRule("rule without a subject", "add one of "+listWords(subjectKeys))
	}
	for i := range keys {
		if keys[i].check != nil {
			keys[i].check(p, r)
		}
	}
}

// checkNamed reports a key about arguments if the key names no argument, or if the rule's subject
// has no arguments.
func (p *parser) checkNamed(k ruleKey, named int, hint string) {
	at, name := p.given[k]-1, ruleKeys[k]
	if at < 0 {
		return
	}
	if !p.broken && named == 0 {
		p.fail(at, at+len(name), name+" names no argument", hint)
	}
	switch s := p.currentRule().subject; s {
	case NoSubject, ToolSubject, PromptSubject:
	default:
		p.fail(at, at+len(name), fmt.Sprintf("%s beside %s", name, subjectKey(s)), "only tools and prompts have arguments")
	}
}

// failRule reports an error at the current rule's header.
func (p *parser) failRule(msg, hint string) {
	start := p.currentRule().start
	end := min(start+len("[[rule]]"), len(p.doc.Src)) // min, because a misspelt header may be shorter than "[[rule]]"
	p.fail(start, end, msg, hint)
}
