package schema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// node is one schema. A value must meet all its conditions. The zero value accepts every value.
type node struct {
	rejectsAll bool   // no value fits
	unknown    string // why a part of the schema is not checked; "" if all is checked
	ref        *node

	types             kinds // the allowed types; 0 means any type
	enum              map[string]bool
	bounds            []bound
	multiple          []decimal
	length, size      count // number of characters of a string; number of elements of an array
	members, contains count // number of members of an object; number of elements that fit containsSchema
	pattern           *pattern
	unique            bool

	prefix                            []*node // the keyword prefixItems
	items                             *node   // the schema for the elements after those in prefix
	containsSchema                    *node   // the keyword contains
	required                          map[string]bool
	properties                        map[string]*node
	patterns                          []patternSchema // the keyword patternProperties
	vague                             bool            // some of the patterns are not checked
	others                            *node           // the keyword additionalProperties
	names                             *node           // the keyword propertyNames
	all, any, one                     []*node         // the keywords allOf, anyOf, oneOf
	not                               *node
	condition, thenSchema, elseSchema *node // the keywords if, then, else
	additionalItems                   *node
}

// bound is an upper or lower limit of a number.
type bound struct {
	keyword          string
	limit            decimal
	upper, exclusive bool // upper means a maximum; exclusive means that the limit itself is not allowed
}

// count holds the minimum and the maximum number of elements, members or characters. most is the
// maximum plus one, or 0.
type count struct{ least, most int }

type patternSchema struct {
	form   *pattern
	schema *node
}

// kinds is a set of types: a bit for each jsonscan.ValueKind, and one for integers.
type kinds uint16

const integer = jsonscan.Object + 1

var kindOf = map[string]kinds{
	"null": 1 << jsonscan.Null, "boolean": 1 << jsonscan.Boolean, "number": 1<<jsonscan.Number | 1<<integer, "integer": 1 << integer,
	"string": 1 << jsonscan.String, "array": 1 << jsonscan.Array, "object": 1 << jsonscan.Object,
}

// reader reads one schema document.
type reader struct {
	src   jsonscan.Value
	old   bool // the schema is of draft 7
	left  int  // number of steps that are left
	depth int
	refs  map[string]*node // nodes by the reference to them
	names map[string]bool  // names of all properties
	forms int              // instructions of all patterns so far
	why   string           // why the whole schema cannot be used; "" if it can
}

// takeCost subtracts the cost of reading v once. It returns false if no steps are left.
func (r *reader) takeCost(v jsonscan.Value) bool {
	r.left -= 1 + len(v)/32
	return r.left >= 0
}

// readNode reads the schema v into n.
func (r *reader) readNode(n *node, v jsonscan.Value) {
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case !r.takeCost(v):
	case r.depth > maxLevels:
		n.unknown = "schemas nest too deep"
	case v == "false":
		n.rejectsAll = true
	case v == "true":
	case v.Kind() != jsonscan.Object:
		n.unknown = "what should be a schema is not one"
	default:
		r.readKeywords(n, v)
	}
}

// readKeywords reads every member of a schema. Then it checks combinations of members.
func (r *reader) readKeywords(n *node, v jsonscan.Value) {
	tightens, least, refers := 0, false, false
	for name, value := range v.Members() {
		word := name.Text()
		k, known := keywords[word]
		switch {
		case word == "$schema" || word == "$id":
			if r.depth > 1 {
				r.why = word + " within a schema is not checked"
			}
		case notes[word], strings.HasPrefix(word, "x-"):
		case !known:
			n.unknown = "a keyword is not known, or not checked"
		case k.notInDraft7 && r.old, k.onlyInDraft7 && !r.old:
			n.unknown = word + " is not of this dialect"
		case !k.read(r, n, value):
			*n = node{unknown: "a keyword has a value that it cannot have"}
			return
		default:
			tightens++
			least, refers = least || word == "minContains", refers || word == "$ref"
		}
	}
	if r.old && refers && tightens > 1 {
		*n = node{unknown: "members beside $ref are read in two ways"}
	}
	if len(n.prefix) > 0 && n.items == nil {
		n.items = n.additionalItems
	}
	if !least {
		n.contains.least = 1
	}
}

// readSchema reads a nested schema.
func (r *reader) readSchema(to **node, v jsonscan.Value) bool {
	*to = &node{}
	r.readNode(*to, v)
	return true
}

// readSchemas reads an array of schemas.
func (r *reader) readSchemas(to *[]*node, v jsonscan.Value) bool {
	if v.Kind() != jsonscan.Array {
		return false
	}
	for e := range v.Elements() {
		n := &node{}
		if r.readNode(n, e); r.left < 0 {
			return false
		}
		*to = append(*to, n)
	}
	return len(*to) > 0
}

// readNamed reads an object of schemas.
func (r *reader) readNamed(v jsonscan.Value, add func(name string, n *node) bool) bool {
	if v.Kind() != jsonscan.Object {
		return false
	}
	for name, value := range v.Members() {
		n := &node{}
		if r.readNode(n, value); r.left < 0 || !add(name.Text(), n) {
			return false
		}
	}
	return true
}

// readCount reads an integer that is not negative.
func (r *reader) readCount(to *int, v jsonscan.Value) bool {
	d, ok := readNumber(v)
	if !ok || d.Negative || !d.isWhole() {
		return false
	}
	if d.Power > 9 {
		*to = 1 << 30 // more than any value can have
		return true
	}
	n, err := strconv.Atoi(d.Digits + strings.Repeat("0", int(d.last())))
	*to = n
	return err == nil || d.Digits == ""
}

// readMost reads an upper limit and stores the limit plus one, because 0 means no limit.
func (r *reader) readMost(to *int, v jsonscan.Value) bool {
	ok := r.readCount(to, v)
	*to++
	return ok
}

func (r *reader) readBound(n *node, b bound, v jsonscan.Value) (ok bool) {
	if b.limit, ok = readNumber(v); ok {
		n.bounds = append(n.bounds, b)
	}
	return ok
}

func (r *reader) readTypes(n *node, v jsonscan.Value) bool {
	if v.Kind() == jsonscan.String {
		n.types = kindOf[v.Text()]
		return n.types != 0
	}
	for e := range v.Elements() {
		one := kindOf[e.Text()]
		if one == 0 {
			n.types = 0
			return false
		}
		n.types |= one
	}
	return n.types != 0
}

// readEnum reads the allowed values of enum or const.
func (r *reader) readEnum(n *node, values ...jsonscan.Value) bool {
	all := make(map[string]bool, len(values))
	for _, v := range values {
		if r.left -= len(v) / 4; r.left < 0 {
			return false
		}
		one, ok := appendCanonical(nil, v, 0)
		if !ok {
			return false
		}
		all[string(one)] = true
	}
	if n.enum == nil {
		n.enum = all
		return true
	}
	for one := range n.enum { // enum and const are both there, so only common values are allowed
		if !all[one] {
			delete(n.enum, one)
		}
	}
	return true
}

func (r *reader) enumOf(n *node, v jsonscan.Value) bool {
	var all []jsonscan.Value
	for e := range v.Elements() {
		if r.left -= 2; r.left < 0 {
			return false
		}
		all = append(all, e)
	}
	return len(all) > 0 && r.readEnum(n, all...)
}

func (r *reader) readRequired(n *node, v jsonscan.Value) bool {
	n.required = map[string]bool{}
	for e := range v.Elements() {
		if r.left--; e.Kind() != jsonscan.String || r.left < 0 {
			return false
		}
		n.required[e.Text()] = true
	}
	return v.Kind() == jsonscan.Array
}

// readReference reads a $ref to a schema in the same document.
func (r *reader) readReference(n *node, v jsonscan.Value) bool {
	to, local := strings.CutPrefix(v.Text(), "#")
	to, err := url.PathUnescape(to)
	if !local || err != nil || to != "" && to[0] != '/' {
		n.unknown = "a reference leads out of the schema, or to an anchor"
		return true
	}
	if n.ref = r.refs["#"+to]; n.ref != nil {
		return true
	}
	at := r.src
	for _, segment := range strings.Split(to, "/")[1:] {
		if !r.takeCost(at) {
			return false
		}
		at = memberAt(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(segment))
		if at == "" || at.Member("$id") != "" {
			n.unknown = "a reference leads nowhere, or into another schema"
			return true
		}
	}
	n.ref = &node{}
	r.refs["#"+to] = n.ref
	r.readNode(n.ref, at)
	return true
}

// memberAt returns the value at one segment of a JSON pointer.
func memberAt(v jsonscan.Value, segment string) jsonscan.Value {
	if v.Kind() != jsonscan.Array {
		return v.Member(segment)
	}
	i := 0
	for e := range v.Elements() {
		if strconv.Itoa(i) == segment {
			return e
		}
		i++
	}
	return ""
}
