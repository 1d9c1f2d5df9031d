package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// The reference: plain first match, no index, own matcher. It knows calls whose
// every argument is one text, and nothing of readings: tests give it those.

func refGlob(pattern, s string) bool {
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**"):
			re.WriteString(`.*`)
			rest = rest[2:]
		case rest[0] == '*':
			re.WriteString(`[^/]*`)
			rest = rest[1:]
		case rest[0] == '?':
			re.WriteString(`.`)
			rest = rest[1:]
		default:
			n := strings.IndexAny(rest, "*?")
			if n < 0 {
				n = len(rest)
			}
			re.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		}
	}
	return regexp.MustCompile(re.String() + `\z`).MatchString(s)
}

// refCall is a call in which every argument has one text. alike is what both
// sides of every comparison are put through.
type refCall struct {
	name, server string
	cwd          string // at which relative paths start; "" when that is not known
	args         map[string]string
	alike        func(string) string
}

// server is the globs of a rule on servers; nil when it has none.
func (r *ruleSource) server() *string {
	if s := r.conditionFor("server"); s != nil {
		all := strings.Join(s.Globs, " ")
		return &all
	}
	return nil
}

// onServer gives a rule such globs.
func (r *ruleSource) onServer(globs ...string) {
	r.setCondition(serverKey, keys[serverKey].call.statedGlobs(globs, nil))
}

func refAny(globs []string, text string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return refGlob(g, text) })
}

func refMatches(r *ruleSource, c refCall) bool {
	if s := r.conditionFor("server"); !refAny(r.patterns, c.name) || s != nil && !refAny(s.Globs, c.server) {
		return false
	}
	for _, a := range r.args {
		if !refArgument(a, c, r.Action == Allow) {
			return false
		}
	}
	if refAny(r.not.patterns, c.name) || slices.ContainsFunc(r.not.calls, func(s Stated) bool { return refAny(s.Globs, c.server) }) ||
		slices.ContainsFunc(r.not.args, func(a argSource) bool { return refArgument(a, c, r.Action != Allow) }) {
		return false
	}
	for _, w := range r.where {
		v, found := c.args[strings.Join(w.path, ".")]
		if !refHolds(&w, v, found) {
			return false
		}
	}
	return true
}

// refArgument says whether an argument matches; of any of them all or one.
func refArgument(a argSource, c refCall, all bool) bool {
	hits := 0
	for name, v := range c.args {
		if a.path[0] != "*" && name != strings.Join(a.path, ".") {
			continue
		}
		if slices.ContainsFunc(a.globs, func(g string) bool { return refGlob(c.alike(g), v) }) {
			hits++
		}
	}
	return hits > 0 && (a.path[0] != "*" || !all || hits == len(c.args))
}

// refHolds knows the constraints that drawTyped draws.
func refHolds(w *whereSource, v string, found bool) bool {
	switch w.key.name {
	case "present":
		return found == w.value.(bool)
	case "one_of":
		return found && slices.Contains(w.value.([]any), any(v))
	}
	return found && len([]rune(v)) <= w.value.(int)
}

// typed reads a constraint.
func typed(text string) whereSource {
	rules, errs := parseSource("typed", []byte(ruleWith(text)))
	if errs != nil {
		panic(errs)
	}
	return rules[0].where[0]
}

var typedSources = []string{".present = true", ".present = false", `.one_of = ["/p/a", "b c", ".env"]`, ".max_length = 4"}

// drawTyped is drawRules with constraints in some rules.
func drawTyped(patterns []string) *rapid.Generator[[]ruleSource] {
	return rapid.Custom(func(t *rapid.T) []ruleSource {
		rules := drawRules(patterns).Draw(t, "untyped")
		for i := range rules {
			for _, name := range []string{"path", "to", "o.k", "gone"} {
				if rapid.IntRange(0, 5).Draw(t, "typed "+name) == 0 {
					rules[i].where = append(rules[i].where, typed("where."+name+rapid.SampledFrom(typedSources).Draw(t, "constraint")))
				}
			}
		}
		return rules
	})
}

// refFurther says what a rule makes of the arguments that it does not name.
func refFurther(r *ruleSource, c refCall) where.Match {
	if r.further.Open || !r.further.Only && (r.Action != Allow || len(r.conditioned()) == 0 || slices.Contains(r.conditioned(), "*")) {
		return where.Yes
	}
	for name, v := range c.args {
		first, last, nested := strings.Cut(name, ".")
		named := slices.Contains(r.further.Names, first)
		for _, path := range r.conditioned() {
			named = named || path == name || path == first
		}
		if !nested {
			last = first
		}
		switch {
		case named:
		case r.further.Only:
			return where.No
		case last == "path" && v != "", reading.SuspectReason("x", v) != "":
			return where.Maybe
		case holdsJSON(v) && refSuspicious(last, v):
			return where.Maybe
		}
	}
	return where.Yes
}

// refSuspicious looks into JSON that a text holds.
func refSuspicious(name, v string) bool {
	var x any
	if json.Unmarshal([]byte(v), &x) != nil {
		return false
	}
	var look func(name string, x any) bool
	look = func(name string, x any) bool {
		switch x := x.(type) {
		case string:
			return reading.SuspectReason(name, x) != "" || holdsJSON(x) && refSuspicious(name, x)
		case []any:
			return slices.ContainsFunc(x, func(e any) bool { return look(name, e) })
		case map[string]any:
			for k, e := range x {
				if look(k, e) {
					return true
				}
			}
		}
		return false
	}
	return look(name, x)
}

func (r *ruleSource) conditioned() (names []string) {
	for _, a := range r.args {
		names = append(names, strings.Join(a.path, "."))
	}
	for _, w := range r.where {
		names = append(names, strings.Join(w.path, "."))
	}
	for _, a := range r.not.args {
		names = append(names, strings.Join(a.path, "."))
	}
	return names
}

// refDecide is the seed's whole evaluation order, and what came after it: an allow
// that further arguments make a maybe opens nothing, and holds nothing up.
func refDecide(rules []ruleSource, c refCall) (Action, int) {
	worst, at := none, -1
	for i := range rules {
		further := refFurther(&rules[i], c)
		if further == where.No || !refMatches(&rules[i], c) {
			continue
		}
		if rank := rules[i].rank(); rank < worst {
			worst, at = rank, i
		}
		if further == where.Yes {
			return worst.toAction(), at
		}
	}
	return Deny, -1
}

func asIs(s string) string { return s }

// Generators: small alphabets, so that rules and calls meet.

var toolNames = []string{"a", "ab", "a_x", "b_x", "a_x_b", "x"}

func drawTool() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "ab", "a_x", "*", "a*", "*_x", "*_x_*", "?", "**", "a_*", "*b"})
}

var plainPatterns = []string{"/p/**", "/p/*", "/p/a", "**/a", "**/.env", "/**", "**", "*", "/p/?/a", "/q/**", "p/*", "a", "**a**", "/p/.env", "/p/a/**"}
var plainValues = []string{"/p/a", "/p/b", "/p/a/b", "/q/a", "/p/.env", "a", ".env", "p/a", "b c", "/", "/p", "some text", "a/.env"}

var hostilePatterns = append([]string{"/P/**", "${cwd}/**", "${cwd}", "~/a/**", "file:///p/**", `\p\**`, "/p/%61/*", "**/A", "https://h/a/**", "./p/**", "/home/u/**", "**/é", "[**]", "{*"}, plainPatterns...)
var hostilePieces = []string{"/", "/p", "/q", "..", ".", "a", "A", ".env", "%2e", "%2f", "%252e", `\`, "~", "file:", "//", "é", "é", " ", "https://h", "%00", "\u200b", "C:"}

func drawHostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "plain") {
			return rapid.SampledFrom(plainValues).Draw(t, "value")
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostilePieces), 1, 6).Draw(t, "pieces"), "")
		if embed := rapid.SampledFrom([]string{"", "", "", `["a",%s]`, `{"k":%s}`, `[%s`}).Draw(t, "JSON"); embed != "" {
			return fmt.Sprintf(embed, jsonText(text))
		}
		return text
	})
}

func drawRules(patterns []string) *rapid.Generator[[]ruleSource] {
	return rapid.Custom(func(t *rapid.T) []ruleSource {
		n := rapid.IntRange(0, 30).Draw(t, "rules")
		rules := make([]ruleSource, n)
		for i := range rules {
			r := &rules[i]
			*r = toolRule(rapid.SampledFrom([]Action{Deny, Prompt, Allow, Allow}).Draw(t, "action"), "")
			r.patterns = rapid.SliceOfN(drawTool(), 1, 3).Draw(t, "tools")
			r.Index = i
			if rapid.IntRange(0, 5).Draw(t, "server") == 0 {
				r.onServer(rapid.SliceOfN(rapid.SampledFrom([]string{"s", "t*", "*", "u"}), 1, 2).Draw(t, "server")...)
			}
			for _, name := range []string{"path", "to", "o.k"} {
				if rapid.IntRange(0, 2).Draw(t, name) == 0 {
					r.args = append(r.args, arg(name, rapid.SliceOfN(rapid.SampledFrom(patterns), 1, 2).Draw(t, "globs")...))
				}
			}
			drawExceptions(t, r, patterns)
			switch rapid.IntRange(0, 5).Draw(t, "further") {
			case 0:
				r.further.Only = true
			case 1:
				r.further = Further{Only: true, Names: []string{rapid.SampledFrom([]string{"path", "to", "o"}).Draw(t, "further name")}}
			case 2, 3:
				r.further.Open = r.Action == Allow && !slices.Contains(r.conditioned(), "*")
			}
		}
		return rules
	})
}

// drawExceptions gives some rules exceptions, and some a condition on any argument.
func drawExceptions(t *rapid.T, r *ruleSource, patterns []string) {
	globs := rapid.SliceOfN(rapid.SampledFrom(patterns), 1, 2)
	switch rapid.IntRange(0, 9).Draw(t, "exception") {
	case 0:
		r.not.subject, r.not.patterns = toolKey, rapid.SliceOfN(drawTool(), 1, 2).Draw(t, "not tool")
	case 1:
		s := keys[serverKey].call.statedGlobs([]string{rapid.SampledFrom([]string{"s", "t*", "u"}).Draw(t, "not server")}, nil)
		s.Key = "server"
		r.not.calls = append(r.not.calls, s)
	case 2, 3:
		name := rapid.SampledFrom([]string{"path", "to", "o.k", "*"}).Draw(t, "not argument")
		r.not.args = append(r.not.args, arg(name, globs.Draw(t, "not globs")...))
	case 4:
		r.args = append(r.args, arg("*", globs.Draw(t, "any argument")...))
	}
}

func jsonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func argsJSON(args map[string]string) string {
	var members []string
	for name, v := range args {
		if outer, inner, nested := strings.Cut(name, "."); nested {
			members = append(members, fmt.Sprintf(`%q:{%q:%s}`, outer, inner, jsonText(v)))
			continue
		}
		members = append(members, fmt.Sprintf(`%q:%s`, name, jsonText(v)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func drawArgs(t *rapid.T, value *rapid.Generator[string]) map[string]string {
	args := map[string]string{}
	for _, name := range []string{"path", "to", "o.k"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) > 0 {
			args[name] = value.Draw(t, name)
		}
	}
	return args
}

func compileRules(t rapid.TB, rules []ruleSource) *Policy {
	p, errs := compileSources(rules, Options{Home: "/home/u"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

func decideCall(t rapid.TB, rules []ruleSource, c refCall) Decision {
	call := toolCall(c.name, argsJSON(c.args))
	call.Server = c.server
	return compileRules(t, rules).Decide(call)
}

func drawCall(t *rapid.T, value *rapid.Generator[string]) refCall {
	return refCall{
		name:   rapid.SampledFrom(toolNames).Draw(t, "name"),
		server: rapid.SampledFrom([]string{"s", "tt"}).Draw(t, "server"),
		args:   drawArgs(t, value),
		alike:  asIs,
	}
}

// With one reading, a decision is plain first match, rule and all.
func TestLawOneReadingIsFirstMatch(t *testing.T) {
	lower := rapid.SampledFrom([]string{"/p/a", "/p/b", "/p/a/b", "/q/a", "/p/.env", "b c", "/p", "some text", "/p/x/a"})
	rapid.Check(t, func(t *rapid.T) {
		rules := drawTyped(plainPatterns).Draw(t, "policy")
		c := drawCall(t, lower)
		want, index := refDecide(rules, c)
		// A relative value may lie under a "**/" pattern: that is a second way
		// to read it, and then only the strictness is known.
		maybes := c.args["path"] == "b c" || c.args["to"] == "b c" || c.args["o.k"] == "b c"
		// So it is where a prompt is about any argument, and not every value is such.
		maybes = maybes || slices.ContainsFunc(rules, func(r ruleSource) bool { return r.Action == Prompt && slices.Contains(r.conditioned(), "*") })
		got := decideCall(t, rules, c)
		if got.Action != want && !(maybes && got.Action < want) {
			t.Fatalf("%v by %+v, first match says %v by rule %d", got.Action, got.Rule, want, index)
		}
		if !maybes && (got.Rule == nil) != (index < 0) || got.Rule != nil && !maybes && got.Rule.Index != index {
			t.Fatalf("by %+v, first match says rule %d", got.Rule, index)
		}
	})
}

// servers are what real ones do to a path. Each is an independent spelling of a
// rule of the language, applied to values and, where it says so, to patterns.
var servers = []struct {
	name  string
	alike func(string) string
	value func(string) string
}{
	{"takes it as it is", asIs, asIs},
	{"cleans it", asIs, keepSlash},
	{"ignores case", strings.ToLower, strings.ToLower},
	{"ignores case and cleans", strings.ToLower, func(s string) string { return keepSlash(strings.ToLower(s)) }},
}

func keepSlash(s string) string {
	c := path.Clean(s)
	if strings.HasSuffix(s, "/") && c != "/" {
		c += "/"
	}
	return c
}

// An allow holds whatever the server does to the value.
func TestLawAllowHoldsForEveryServer(t *testing.T) {
	patterns := append([]string{"/P/**", "**/A", "/p/A"}, plainPatterns...)
	value := rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", "a", "A", ".env", "..", ".", ""}), 1, 6).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(patterns).Draw(t, "policy")
		c := drawCall(t, value)
		got := decideCall(t, rules, c)
		for _, s := range servers {
			seen := c
			seen.alike, seen.args = s.alike, map[string]string{}
			for name, v := range c.args {
				seen.args[name] = s.value(v)
			}
			if want, index := refDecide(rules, seen); got.Action > want {
				t.Fatalf("%v by %+v, but a server that %s meets rule %d: %v", got.Action, got.Rule, s.name, index, want)
			}
		}
	})
}

// The index and the walk answer as a plain loop over all rules and all
// combinations of readings does.
func TestLawIndexKeepsNothingBack(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		rules := drawTyped(hostilePatterns).Draw(t, "policy")
		c := drawCall(t, drawHostile())
		c.server = rapid.SampledFrom([]string{"s", "tt", ""}).Draw(t, "server name")
		c.cwd = rapid.SampledFrom([]string{"", "/", "/p", "/P/a", "/home/u/p", `C:\p`}).Draw(t, "cwd")
		p := compileRules(t, rules)
		call := toolCall(c.name, argsJSON(c.args))
		call.Server, call.Cwd = c.server, c.cwd
		got, want := p.Decide(call), loop(p, c)
		if got.Action != want {
			t.Fatalf("%+v by %+v, the loop says %v", got, got.Rule, want)
		}
	})
}

// With more combinations than are walked one by one, the answer is the loop's
// or a stricter one.
func TestLawManyCombinationsAreStricter(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		p := compileRules(t, drawTyped(hostilePatterns).Draw(t, "policy"))
		name := rapid.SampledFrom(toolNames).Draw(t, "name")
		values := rapid.SliceOfN(drawHostile(), 2, 4)
		from, to := values.Draw(t, "from"), values.Draw(t, "to")
		list := func(values []string, times int) string {
			var all []string
			for range times {
				for _, v := range values {
					all = append(all, jsonText(v))
				}
			}
			return strings.Join(all, ",")
		}
		args := func(times int) string { return `{"path":[` + list(from, times) + `],"to":[` + list(to, times) + `]}` }
		few, many := p.Decide(toolCall(name, args(1))), p.Decide(toolCall(name, args(200)))
		if many.Action > few.Action {
			t.Fatalf("%v, with repetitions %v", few.Action, many.Action)
		}
	})
}

func readingsOf(p *Policy, name, v, cwd string) []reading.Reading {
	n := p.args[ToolSubject]
	for _, key := range strings.Split(name, ".") {
		if n = n.flat[key]; n == nil {
			return nil
		}
	}
	seen := view{policy: p, call: &Call{Facts: Facts{Cwd: cwd}}, left: effort.Max}
	seen.scanArguments([]byte(argsJSON(map[string]string{name: v})), p.args[ToolSubject])
	for i := range seen.values {
		if seen.values[i].slot == n.slot {
			seen.readValue(&seen.values[i])
		}
	}
	return seen.readings
}

// loop judges every combination of readings by walking all rules.
func loop(p *Policy, c refCall) Action {
	combinations := []map[int32]*reading.Reading{{}}
	for name, v := range c.args {
		rs := readingsOf(p, name, v, c.cwd)
		var next []map[int32]*reading.Reading
		for _, base := range combinations {
			for i := range rs {
				one := map[int32]*reading.Reading{p.slotOf(name): &rs[i]}
				maps.Copy(one, base)
				next = append(next, one)
			}
		}
		if len(rs) > 0 {
			combinations = next
		}
	}
	worst := Allow
	for _, one := range combinations {
		worst = min(worst, loopOne(p, c, one))
	}
	return worst
}

func (p *Policy) slotOf(name string) int32 {
	n := p.args[ToolSubject]
	for _, key := range strings.Split(name, ".") {
		n = n.flat[key]
	}
	return n.slot
}

func loopOne(p *Policy, c refCall, readings map[int32]*reading.Reading) Action {
	worst := Allow
	for i := range p.rules {
		r := &p.rules[i]
		not := &p.sources[i].not
		if !refAny(p.sources[i].patterns, c.name) || refAny(not.patterns, c.name) {
			continue
		}
		v := where.Yes
		for _, s := range not.calls {
			switch {
			case c.server == "":
				v = min(v, where.Maybe)
			case refAny(s.Globs, c.server):
				v = where.No
			}
		}
		if server := p.sources[i].conditionFor("server"); server != nil {
			switch {
			case c.server == "":
				v = min(v, where.Maybe)
			case !refAny(server.Globs, c.server):
				v = where.No
			}
		}
		for _, cond := range r.conditions {
			one := readings[cond.slot]
			if one == nil {
				one = &missing
			}
			alone := view{policy: p, left: effort.Max}
			if cond.slot == p.args[ToolSubject].slot {
				v = min(v, loopAll(p, c, &cond, r.action))
				continue
			}
			v = min(v, alone.judgeReading(&cond, one, r.action))
		}
		v = min(v, refFurther(&p.sources[i], c))
		switch v {
		case where.Yes:
			return min(worst, r.action)
		case where.Maybe:
			worst = min(worst, r.action)
		}
	}
	return Deny
}

// loopAll judges a condition on any argument by each of its values, as every does.
func loopAll(p *Policy, c refCall, cond *condition, a Action) where.Match {
	if len(c.args) == 0 {
		return (&view{policy: p, left: effort.Max}).judgeReading(cond, &missing, a)
	}
	var all []where.Match
	for name, text := range c.args {
		seen := view{policy: p, call: &Call{Facts: Facts{Cwd: c.cwd}}, left: effort.Max}
		seen.all = true
		seen.scanArguments([]byte(argsJSON(map[string]string{name: text})), p.args[ToolSubject])
		for i := range seen.values {
			if seen.values[i].slot != cond.slot {
				continue
			}
			seen.readings = nil
			seen.readValue(&seen.values[i])
			var each []where.Match
			for j := range seen.readings {
				each = append(each, seen.judgeReading(cond, &seen.readings[j], a))
			}
			m := slices.Min(each)
			if m != slices.Max(each) {
				m = where.Maybe
			}
			all = append(all, m)
		}
	}
	switch least, most := slices.Min(all), slices.Max(all); {
	case a == Allow:
		return least
	case a == Deny || least == most:
		return most
	}
	return where.Maybe
}

// A deny put anywhere never weakens a decision.
func TestLawInsertingDenyNeverWeakens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawTyped(hostilePatterns).Draw(t, "policy")
		c := drawCall(t, drawHostile())
		before := decideCall(t, rules, c)
		extra := drawTyped(hostilePatterns).Filter(func(r []ruleSource) bool { return len(r) > 0 }).Draw(t, "extra")[0]
		extra.Action = Deny
		at := rapid.IntRange(0, len(rules)).Draw(t, "place")
		longer := append(append(append([]ruleSource(nil), rules[:at]...), extra), rules[at:]...)
		if after := decideCall(t, longer, c); after.Action > before.Action {
			t.Fatalf("%v became %v", before.Action, after.Action)
		}
	})
}

// One more reading (an element more in a list) never weakens.
func TestLawAddingReadingNeverWeakens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compileRules(t, drawTyped(hostilePatterns).Draw(t, "policy"))
		values := rapid.SliceOfN(drawHostile(), 2, 5).Draw(t, "values")
		name := rapid.SampledFrom(toolNames).Draw(t, "name")
		other := jsonText(drawHostile().Draw(t, "other"))
		last := Allow
		list := ""
		for i, v := range values {
			if i > 0 {
				list += ","
			}
			list += jsonText(v)
			d := p.Decide(toolCall(name, `{"path":[`+list+`],"to":`+other+`}`))
			if d.Action > last {
				t.Fatalf("%v became %v with %q", last, d.Action, v)
			}
			last = d.Action
		}
	})
}

// Cleaning a path never weakens: what holds for the path as sent holds for its
// cleaned form.
func TestLawCleaningNeverWeakens(t *testing.T) {
	segments := rapid.SampledFrom([]string{"p", "q", "a", "A", ".env", "..", ".", "", "%2e", "é"})
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(plainPatterns).Draw(t, "policy")
		v := "/" + strings.Join(rapid.SliceOfN(segments, 1, 6).Draw(t, "segments"), "/")
		c := refCall{name: rapid.SampledFrom(toolNames).Draw(t, "name"), args: map[string]string{"path": v}, server: "s"}
		sent := decideCall(t, rules, c)
		c.args = map[string]string{"path": keepSlash(v)}
		if cleaned := decideCall(t, rules, c); sent.Action > cleaned.Action {
			t.Fatalf("%q is %v, cleaned it is %v", v, sent.Action, cleaned.Action)
		}
	})
}
