package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/policytext"
	"github.com/clawai/clawai/policy/internal/toml"
)

// maxRate bounds the calls that a limit counts: each is remembered.
const maxRate = 10_000

var rateUnits = []struct {
	name string
	long time.Duration
}{
	{"s", time.Second}, {"sec", time.Second}, {"second", time.Second},
	{"min", time.Minute}, {"minute", time.Minute},
	{"h", time.Hour}, {"hour", time.Hour},
	{"day", 24 * time.Hour},
}

// limitParts is the limit of a rule that is being read.
type limitParts struct {
	Rate
	texts map[string]string // TOML by name
}

// limitPart takes one part of a limit that is a table.
func (p *parser) limitPart(word string, name label, at []toml.KeyPart, v toml.Value) {
	if !v.IsString() {
		p.keep(word, "")
		p.wrongType(name, "a string", at, v, "")
		return
	}
	choose := func(words []string) int {
		i := slices.Index(words, v.Text())
		if i < 0 {
			start, end, _ := v.Span()
			p.fail(start, end, fmt.Sprintf("unknown %s %q", name, v.Text()), suggest(v.Text(), words, "one of "+listWords(words)))
		}
		return max(i, 0)
	}
	switch word {
	case "rate":
		p.rate(name, v)
		return
	case "per":
		p.limit.Per = Per(choose(perWords))
	default:
		p.limit.Over = []Action{Deny, Prompt}[choose([]string{"deny", "prompt"})]
	}
	p.keep(word, v.Text())
}

func (p *parser) keep(word, text string) {
	if p.limit.texts == nil {
		p.limit.texts = map[string]string{}
	}
	p.limit.texts[word] = policytext.Quote(text)
}

// rate reads "20/min".
func (p *parser) rate(name label, v toml.Value) {
	s := v.Text()
	p.keep("rate", s)
	start, end, _ := v.Span()
	number, unit, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	unit = strings.TrimSpace(unit)
	for _, u := range rateUnits {
		if u.name == unit {
			p.limit.Every = u.long
		}
	}
	switch {
	case err != nil || p.limit.Every == 0:
		p.fail(start, end, fmt.Sprintf("%s: %q is no rate", name, s), `write a number and a unit: "20/min"; units are s, min, hour, day`)
	case n < 1 || n > maxRate:
		p.fail(start, end, fmt.Sprintf("%s: %d is not between 1 and %d", name, n, maxRate), `to allow nothing, write action = "deny"`)
	}
	p.limit.Count = n
}

// closeLimit checks the limit of a rule, and gives it its name.
func (p *parser) closeLimit(r *ruleSource) {
	at := p.given[limitKey] - 1
	if at < 0 {
		return
	}
	fail := func(msg, hint string) { p.fail(at, at+len("limit"), msg, hint) }
	l := &p.limit
	switch {
	case p.broken:
	case p.acts && r.Action == Deny:
		fail(`limit beside action "deny"`, "what is denied needs no limit")
	case p.acts && r.Action == Prompt && l.Over == Prompt:
		fail(`over = "prompt" beside action "prompt"`, "a person is asked anyway; leave over out to deny what is beyond")
	case l.Per == PerTool && r.subject != ToolSubject && r.subject != NoSubject:
		fail(`per = "tool" beside `+subjectKey(r.subject), "only tool rules have tools")
	case l.texts["rate"] == "":
		fail("limit without a rate", `write limit = { rate = "20/min" }`)
	}
	if r.limit = l.texts["rate"]; l.texts["per"] != "" || l.texts["over"] != "" {
		r.limit = tableOf(limitNames, l.texts)
	}
	r.Rate = l.Rate
	r.Rate.Key = r.fingerprint()
}

// tableOf writes the parts of a key that are given.
func tableOf(names []string, texts map[string]string) string {
	var pairs []policytext.Pair
	for _, n := range names {
		if text := texts[n]; text != "" {
			pairs = append(pairs, policytext.Pair{Key: n, Value: text})
		}
	}
	return policytext.Table(pairs)
}

// fingerprint names what a rule says, wherever it stands and whatever it is
// called.
func (r *ruleSource) fingerprint() string {
	bare := *r
	bare.Description = ""
	sum := sha256.Sum256([]byte(bare.toml()))
	return hex.EncodeToString(sum[:12])
}
