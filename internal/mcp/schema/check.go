package schema

import (
	"strconv"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// check is the state of one check of a value.
type check struct {
	left      int // number of steps that are left
	depth     int
	unchecked string   // the first reason why a part was not checked; "" if there is none
	unfit     string   // the last keyword that the value did not fit
	at        []string // where that keyword failed: the path, innermost name first
}

func (c *check) setUnchecked(why string) {
	if c.unchecked == "" {
		c.unchecked = why
	}
}

// failKeyword returns Unfit and records the keyword at the current place.
func (c *check) failKeyword(keyword string) Verdict {
	c.unfit, c.at = keyword, c.at[:0]
	return Unfit
}

// bothVerdicts returns the verdict if both conditions must hold.
func bothVerdicts(a, b Verdict) Verdict {
	switch {
	case a == Unfit || b == Unfit:
		return Unfit
	case a == Unchecked || b == Unchecked:
		return Unchecked
	}
	return Fits
}

// checkNode checks whether a value fits a schema.
func (c *check) checkNode(n *node, v jsonscan.Value) (verdict Verdict) {
	if c.left -= 1 + len(v)/64; c.left < 0 {
		return Unchecked
	}
	if c.depth++; c.depth > maxLevels {
		c.setUnchecked("schemas or values nest too deep")
		c.depth--
		return Unchecked
	}
	defer func() { c.depth-- }()
	verdict = Fits
	if n.unknown != "" {
		c.setUnchecked(n.unknown)
		verdict = Unchecked
	}
	if n.rejectsAll {
		return c.failKeyword("false")
	}
	if verdict = bothVerdicts(verdict, c.checkGeneral(n, v)); verdict == Unfit {
		return Unfit
	}
	if verdict = bothVerdicts(verdict, c.checkKind(n, v)); verdict == Unfit {
		return Unfit
	}
	return bothVerdicts(verdict, c.checkLogic(n, v))
}

// checkGeneral checks the keywords for values of all types.
func (c *check) checkGeneral(n *node, v jsonscan.Value) (verdict Verdict) {
	verdict = Fits
	if n.types != 0 {
		if verdict = c.checkTypes(n.types, v); verdict == Unfit {
			return c.failKeyword("type")
		}
	}
	if n.enum != nil {
		c.left -= len(v) / 4
		one, ok := appendCanonical(nil, v, 0)
		switch {
		case !ok:
			c.setUnchecked("a number is too large")
			verdict = Unchecked
		case !n.enum[string(one)]:
			return c.failKeyword("enum")
		}
	}
	if n.ref != nil {
		verdict = bothVerdicts(verdict, c.checkNode(n.ref, v))
	}
	return verdict
}

func (c *check) checkTypes(allowed kinds, v jsonscan.Value) Verdict {
	if allowed&(1<<v.Kind()) != 0 {
		return Fits
	}
	if v.Kind() == jsonscan.Number && allowed&(1<<integer) != 0 {
		d, ok := readNumber(v)
		switch {
		case !ok:
			c.setUnchecked("a number is too large")
			return Unchecked
		case d.isWhole():
			return Fits
		}
	}
	return Unfit
}

// checkKind checks the keywords that apply to the type of v.
func (c *check) checkKind(n *node, v jsonscan.Value) Verdict {
	switch v.Kind() {
	case jsonscan.Number:
		return c.checkNumber(n, v)
	case jsonscan.String:
		return c.checkString(n, v)
	case jsonscan.Array:
		return c.checkArray(n, v)
	case jsonscan.Object:
		return c.checkObject(n, v)
	}
	return Fits
}

func (c *check) checkNumber(n *node, v jsonscan.Value) (verdict Verdict) {
	if len(n.bounds)+len(n.multiple) == 0 {
		return Fits
	}
	d, ok := readNumber(v)
	if !ok {
		c.setUnchecked("a number is too large")
		return Unchecked
	}
	for i := range n.bounds {
		b := &n.bounds[i]
		by := d.compareTo(&b.limit)
		if b.upper {
			by = -by
		}
		if by < 0 || by == 0 && b.exclusive {
			return c.failKeyword(b.keyword)
		}
	}
	verdict = Fits
	for i := range n.multiple {
		switch one := d.multipleOf(&n.multiple[i]); one {
		case Unfit:
			return c.failKeyword("multipleOf")
		case Unchecked:
			c.setUnchecked("a number is too large")
			verdict = Unchecked
		}
	}
	return verdict
}

func (c *check) checkString(n *node, v jsonscan.Value) (verdict Verdict) {
	if n.pattern == nil && n.length == (count{}) {
		return Fits
	}
	text := v.Text()
	if n.length != (count{}) {
		if long := utf8.RuneCountInString(text); !n.length.isWithin(long) {
			return c.failKeyword(n.length.failedKeyword(long, "minLength", "maxLength"))
		}
	}
	verdict = Fits
	if n.pattern != nil {
		if verdict = n.pattern.matchText(c, text); verdict == Unfit {
			return c.failKeyword("pattern")
		}
	}
	return verdict
}

// isWithin reports whether n is within the limits. most is the maximum plus one, or 0 if there is
// no maximum.
func (o count) isWithin(n int) bool { return n >= o.least && (o.most == 0 || n < o.most) }

func (o count) failedKeyword(n int, least, most string) string {
	if n < o.least {
		return least
	}
	return most
}

func (c *check) checkArray(n *node, v jsonscan.Value) (verdict Verdict) {
	if len(n.prefix) == 0 && n.items == nil && n.containsSchema == nil && !n.unique && n.size == (count{}) {
		return Fits
	}
	verdict = Fits
	i, sure, perhaps := 0, 0, 0
	var seen map[string]bool
	for e := range v.Elements() {
		if c.left--; c.left < 0 {
			return Unchecked
		}
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if sub != nil {
			if verdict = bothVerdicts(verdict, c.checkNode(sub, e)); verdict == Unfit {
				c.at = append(c.at, strconv.Itoa(i))
				return Unfit
			}
		}
		if n.containsSchema != nil {
			switch c.checkNode(n.containsSchema, e) {
			case Fits:
				sure++
			case Unchecked:
				perhaps++
			case Unfit:
			}
		}
		if n.unique {
			c.left -= 8 + len(e)/4
			one, ok := appendCanonical(nil, e, 0)
			switch {
			case !ok:
				c.setUnchecked("a number is too large")
				verdict = Unchecked
			case seen[string(one)]:
				return c.failKeyword("uniqueItems")
			case seen == nil:
				seen = map[string]bool{}
			}
			if ok {
				seen[string(one)] = true
			}
		}
		i++
	}
	if !n.size.isWithin(i) {
		return c.failKeyword(n.size.failedKeyword(i, "minItems", "maxItems"))
	}
	if n.containsSchema == nil {
		return verdict
	}
	switch o := n.contains; {
	case sure+perhaps < o.least || o.most > 0 && sure >= o.most:
		return c.failKeyword("contains")
	case !o.isWithin(sure) || !o.isWithin(sure+perhaps):
		return Unchecked
	}
	return verdict
}

func (c *check) checkObject(n *node, v jsonscan.Value) (verdict Verdict) {
	if n.properties == nil && len(n.patterns) == 0 && n.others == nil && n.names == nil && len(n.required) == 0 && n.members == (count{}) {
		return Fits
	}
	verdict = Fits
	required, many := 0, 0 // counting is enough, because no name occurs twice
	for name, value := range v.Members() {
		if c.left--; c.left < 0 {
			return Unchecked
		}
		word := name.Text()
		if verdict = bothVerdicts(verdict, c.checkMember(n, name, word, value)); verdict == Unfit {
			return Unfit
		}
		if n.required[word] {
			required++
		}
		many++
	}
	if required < len(n.required) {
		return c.failKeyword("required")
	}
	if !n.members.isWithin(many) {
		return c.failKeyword(n.members.failedKeyword(many, "minProperties", "maxProperties"))
	}
	return verdict
}

// checkMember checks one member of an object against the schema of the object.
func (c *check) checkMember(n *node, name jsonscan.Value, word string, value jsonscan.Value) (verdict Verdict) {
	verdict = Fits
	if n.names != nil {
		if verdict = c.checkNode(n.names, name); verdict == Unfit {
			return Unfit
		}
	}
	inside := func(sub *node) bool {
		if verdict = bothVerdicts(verdict, c.checkNode(sub, value)); verdict == Unfit {
			c.at = append(c.at, word)
		}
		return verdict != Unfit
	}
	sub, known := n.properties[word]
	if known && !inside(sub) {
		return Unfit
	}
	doubt := n.vague
	for _, p := range n.patterns {
		switch p.form.matchText(c, word) {
		case Fits:
			if known = true; !inside(p.schema) {
				return Unfit
			}
		case Unchecked:
			doubt = true
		case Unfit:
		}
	}
	switch {
	case doubt:
		c.setUnchecked("a pattern is about plain ASCII alone")
		return bothVerdicts(verdict, Unchecked)
	case !known && n.others != nil && !inside(n.others):
		if n.others.rejectsAll {
			c.unfit = "additionalProperties"
		}
		return Unfit
	}
	return verdict
}
