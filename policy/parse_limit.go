package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// maxRate is the largest number of calls that a limit can count. It is bounded because clawai
// remembers each counted call.
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

// limitParts holds the parts of the limit that the parser is reading.
type limitParts struct {
	Rate
	texts map[string]string // each part as TOML, by name
	check func()            // checks the rate; nil if no valid rate was read
}

// limitPart reads one part of a limit in the form of a table.
func (p *parser) limitPart(word string, name label, at []toml.KeyPart, v toml.Value) {
	if !v.IsString() {
		p.storePart(word, "")
		p.wrongType(name, "a string", at, v, "")
		return
	}
	choose := func(words []string) int {
		i := slices.Index(words, v.Text())
		if i < 0 {
			start, end, _ := v.Span()
			p.fail(start, end, fmt.Sprintf("unknown %s %q", name, v.Text()), suggestWord(v.Text(), words, "one of "+listWords(words)))
		}
		return max(i, 0)
	}
	switch word {
	case "rate":
		p.readRate(name, v)
		return
	case "sum":
		p.readSum(name, v)
		return
	case "per":
		words := perWords
		if p.limiting {
			words = words[PerTool:] // without the key "per", the limit counts all calls together
		}
		p.limit.Per = Per(len(perWords) - len(words) + choose(words))
	default:
		p.limit.Over = []Action{Deny, Prompt}[choose([]string{"deny", "prompt"})]
	}
	p.storePart(word, v.Text())
}

func (p *parser) storePart(word, text string) {
	if p.limit.texts == nil {
		p.limit.texts = map[string]string{}
	}
	p.limit.texts[word] = policytext.Quote(text)
}

// readRate reads "20/min".
func (p *parser) readRate(name label, v toml.Value) {
	s := v.Text()
	p.storePart("rate", s)
	start, end, _ := v.Span()
	number, unit, _ := strings.Cut(s, "/")
	number, unit = strings.TrimSpace(number), strings.TrimSpace(unit)
	n, err := strconv.Atoi(number)
	p.limit.Count, p.limit.Max = n, readAmount(number)
	for _, u := range rateUnits {
		if u.name == unit {
			p.limit.Every = u.long
		}
	}
	noRate := func() {
		p.fail(start, end, fmt.Sprintf("%s: %q is not a rate", name, s), `write a number and a unit: "20/min"; units are s, min, hour, day`)
	}
	if p.limit.Every == 0 {
		noRate()
		return
	}
	p.limit.check = func() { // closeLimit calls check, because only then the parser knows what the limit counts
		const nothing = `to allow nothing, write action = "deny"`
		l := &p.limit
		switch {
		case l.Sum != "" && l.Max <= 0:
			p.fail(start, end, fmt.Sprintf("%s: %q is not a sum above 0 of at most %d digits and %d decimals", name, number, maxWhole, maxFraction), nothing)
		case l.Sum != "":
			l.Count = 0
			return
		case err != nil:
			noRate()
		case n < 1 || n > maxRate:
			p.fail(start, end, fmt.Sprintf("%s: %d is not between 1 and %d", name, n, maxRate), nothing)
		}
		l.Max = 0
	}
}

// readSum reads "args.amount".
func (p *parser) readSum(name label, v toml.Value) {
	s := v.Text()
	p.storePart("sum", s)
	if !sumPath().MatchString(s) {
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s: %q names no argument", name, s), `write it as "args.amount" or "args.order.total"`)
	}
	p.limit.Sum = s
}

var sumPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^args(\.[A-Za-z0-9_-]+){1,8}$`) })

// closeLimit checks the complete limit of a rule and sets its key.
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
	case l.Sum != "" && r.subject != ToolSubject && r.subject != PromptSubject && r.subject != NoSubject:
		fail(`sum beside `+subjectKey(r.subject), "only tool and prompt rules have arguments")
	case l.texts["rate"] == "":
		fail("limit without a rate", `write limit = { rate = "20/min" }`)
	}
	if l.check != nil {
		l.check()
	}
	if r.limit = l.texts["rate"]; l.texts["sum"] != "" || l.texts["per"] != "" || l.texts["over"] != "" {
		r.limit = tableOf(limitNames, l.texts)
	}
	r.Rate = l.Rate
	r.Rate.Key = r.fingerprint()
}

// tableOf returns a TOML inline table of some members. It takes the members from texts, in the
// order of the given names.
func tableOf(names []string, texts map[string]string) string {
	var pairs []policytext.Pair
	for _, n := range names {
		if text := texts[n]; text != "" {
			pairs = append(pairs, policytext.Pair{Key: n, Value: text})
		}
	}
	return policytext.InlineTable(pairs)
}

// fingerprint returns a digest of the rule's meaning. The rule's place and description do not
// change the digest. The folders in the lists of [folders] that the rule uses do change it.
func (r *ruleSource) fingerprint() string {
	bare := *r
	bare.Description = ""
	text := bare.formatTOML()
	for _, name := range r.names {
		text += name + " = " + policytext.FormatList(policytext.QuoteAll(findList(r.lists, name).Folders)) + "\n"
	}
	return shortHash(text)
}

// shortHash returns a short digest of a text.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
