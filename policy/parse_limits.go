package policy

import (
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/toml"
)

// limitTable lists the keys of a [[limit]].
var limitTable = []string{"rate", "sum", "per", "tool", "server", "description"}

// openLimit starts a [[limit]] at its header.
func (p *parser) openLimit(e toml.Expression) {
	p.endTable()
	if e.Form == toml.Table {
		p.fail(e.Start, e.End, "[limit] must be [[limit]]", "a policy may have several")
	}
	p.limiting, p.broken, p.scope, p.named = true, false, limitScope, nil
	clear(p.given)
	p.limit = limitParts{}
	p.limits = append(p.limits, LimitTable{Rule: Rule{Pos: p.positionOf(e.Start)}, Start: e.Start, End: e.End})
}

// limitField reads a pair of a [[limit]].
func (p *parser) limitField(e toml.Expression) {
	l := &p.limits[len(p.limits)-1]
	l.End = e.End
	word, ok := p.takeKey(e, "[[limit]]", limitTable)
	k := findKey(word)
	switch {
	case !ok:
	case word == "tool":
		l.Tools, l.tools = p.limitGlobs(k, e)
	case word == "server":
		l.Servers, l.servers = p.limitGlobs(k, e)
	case word == "description":
		p.given[k] = e.Key[0].Start + 1
		if !e.Value.IsString() {
			p.wrongType(label{key: k}, "a string", e.Key, e.Value, "")
			return
		}
		l.Description = e.Value.Text()
	default:
		p.limitPart(word, label{limitKey, []string{word}}, e.Key, e.Value)
	}
}

// limitGlobs reads one glob or a list of globs.
func (p *parser) limitGlobs(k ruleKey, e toml.Expression) (texts []string, globs anyOf) {
	p.given[k] = e.Key[0].Start + 1
	texts = p.readGlobs(label{key: k}, e.Key, e.Value)
	for _, text := range texts {
		g, _ := glob.Compile(text) // no error: readGlobs has checked the text
		globs = append(globs, g)
	}
	return texts, globs
}

// closeTable checks a complete [[limit]] and sets its key.
func (p *parser) closeTable() {
	if !p.limiting {
		return
	}
	p.limiting = false
	l := &p.limits[len(p.limits)-1]
	fail := func(msg, hint string) { p.fail(l.Start, l.Start+len("[limit]"), msg, hint) }
	switch {
	case p.broken:
	case p.limit.texts["rate"] == "":
		fail("limit without a rate", `write rate = "100/min"`)
	case p.limit.Sum != "" && p.given[toolKey] == 0:
		fail("sum without tool", "a call in which the argument is missing is denied: name the tools that have it")
	}
	if p.limit.check != nil {
		p.limit.check()
	}
	l.Rate = p.limit.Rate
	l.Rate.Key = shortHash(l.formatTOML(p.limit.texts))
}
