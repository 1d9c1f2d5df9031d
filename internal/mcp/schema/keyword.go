package schema

import "github.com/clawai/clawai/internal/wire/jsonscan"

// keyword is a keyword that restricts values.
type keyword struct {
	read func(r *reader, n *node, v jsonscan.Value) (ok bool)
	// notInDraft7 means that draft 7 does not have the keyword. onlyInDraft7 means that draft
	// 2020-12 does not have it. With such a keyword, readers that ignore the dialect see another
	// schema than readers that follow it.
	notInDraft7, onlyInDraft7 bool
}

// notes are keywords that restrict nothing. The schemas in $defs are read only if they are
// referenced.
var notes = map[string]bool{
	"title": true, "description": true, "$comment": true, "default": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true,
	"format": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
	"$defs": true, "definitions": true, "$anchor": true, "$dynamicAnchor": true,
}

// keywords are the keywords that are checked (JSON Schema Core and Validation, 2020-12 and draft
// 7).
var keywords map[string]keyword

func init() { // set in init, because otherwise there would be an initialization cycle
	keywords = map[string]keyword{
		"$ref":  {read: (*reader).readReference},
		"type":  {read: (*reader).readTypes},
		"enum":  {read: (*reader).enumOf},
		"const": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readEnum(n, v) }},

		"minimum": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readBound(n, bound{keyword: "minimum"}, v) }},
		"maximum": {read: func(r *reader, n *node, v jsonscan.Value) bool {
			return r.readBound(n, bound{keyword: "maximum", upper: true}, v)
		}},
		"exclusiveMinimum": {read: func(r *reader, n *node, v jsonscan.Value) bool {
			return r.readBound(n, bound{keyword: "exclusiveMinimum", exclusive: true}, v)
		}},
		"exclusiveMaximum": {read: func(r *reader, n *node, v jsonscan.Value) bool {
			return r.readBound(n, bound{keyword: "exclusiveMaximum", upper: true, exclusive: true}, v)
		}},
		"multipleOf": {read: (*reader).multipleOf},

		"minLength":     {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readCount(&n.length.least, v) }},
		"maxLength":     {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readMost(&n.length.most, v) }},
		"minItems":      {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readCount(&n.size.least, v) }},
		"maxItems":      {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readMost(&n.size.most, v) }},
		"minProperties": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readCount(&n.members.least, v) }},
		"maxProperties": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readMost(&n.members.most, v) }},
		"minContains":   {notInDraft7: true, read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readCount(&n.contains.least, v) }},
		"maxContains":   {notInDraft7: true, read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readMost(&n.contains.most, v) }},
		"pattern": {read: func(r *reader, n *node, v jsonscan.Value) bool {
			n.pattern = r.readPattern(n, v.Text())
			return v.Kind() == jsonscan.String
		}},
		"uniqueItems": {read: func(_ *reader, n *node, v jsonscan.Value) bool {
			n.unique = v == "true"
			return v.Kind() == jsonscan.Boolean
		}},

		"required":             {read: (*reader).readRequired},
		"properties":           {read: (*reader).readProperties},
		"patternProperties":    {read: (*reader).readPatterns},
		"additionalProperties": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.others, v) }},
		"propertyNames":        {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.names, v) }},
		"prefixItems":          {notInDraft7: true, read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchemas(&n.prefix, v) }},
		"items":                {read: (*reader).readItems},
		"additionalItems":      {onlyInDraft7: true, read: (*reader).additionalItems},
		"contains":             {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.containsSchema, v) }},

		"allOf": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchemas(&n.all, v) }},
		"anyOf": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchemas(&n.any, v) }},
		"oneOf": {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchemas(&n.one, v) }},
		"not":   {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.not, v) }},
		"if":    {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.condition, v) }},
		"then":  {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.thenSchema, v) }},
		"else":  {read: func(r *reader, n *node, v jsonscan.Value) bool { return r.readSchema(&n.elseSchema, v) }},
	}
}

func (r *reader) multipleOf(n *node, v jsonscan.Value) bool {
	d, ok := readNumber(v)
	if !ok || d.Negative || d.Digits == "" {
		return false
	}
	n.multiple = append(n.multiple, d)
	return true
}

func (r *reader) readProperties(n *node, v jsonscan.Value) bool {
	n.properties = map[string]*node{}
	return r.readNamed(v, func(name string, sub *node) bool {
		n.properties[name], r.names[name] = sub, true
		return true
	})
}

func (r *reader) readPatterns(n *node, v jsonscan.Value) bool {
	return r.readNamed(v, func(name string, sub *node) bool {
		if form := r.readPattern(n, name); form != nil {
			n.patterns = append(n.patterns, patternSchema{form, sub})
		} else {
			n.vague = true
		}
		return true
	})
}

// readItems reads the schema for all elements after those in prefix. In draft 7 the value may be an
// array of schemas.
func (r *reader) readItems(n *node, v jsonscan.Value) bool {
	if r.old && v.Kind() == jsonscan.Array {
		return r.readSchemas(&n.prefix, v)
	}
	return r.readSchema(&n.items, v)
}

// additionalItems reads the schema of the keyword additionalItems. This schema matters only if the
// keyword items has an array.
func (r *reader) additionalItems(n *node, v jsonscan.Value) bool {
	return r.readSchema(&n.additionalItems, v)
}
