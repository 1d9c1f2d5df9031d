package pin

// position says where schemas stand in the value of a keyword.
type position uint8

const (
	none  position = iota
	one            // it is a schema, or an array of them (items in draft 7)
	list           // an array of schemas
	named          // an object of schemas
)

// rating says what a change of a member means.
type rating uint8

const (
	asDoubt    rating = iota // whatever it means: as if it opened something
	asName                   // the entry's own name, which is not compared
	asShown                  // people see it, in a list
	asText                   // a model reads it
	asHints                  // annotations of a tool
	asSchema                 // what a tool takes
	asOutput                 // what a tool gives
	asArgs                   // arguments of a prompt
	asType                   // type
	asEnum                   // enum
	asUpper                  // a bound from above: the lower, the tighter
	asLower                  // a bound from below: the higher, the tighter
	asDemand                 // what it demands is one more condition, none when absent
	asRequired               // required
	asDialect                // $schema
)

// keyword is one member of a schema (JSON Schema 2020-12 and draft 7).
type keyword struct {
	rating rating // of what holds no schemas
	holds  position
	set    bool // an array in which order and repetition mean nothing
	// contrary: that what it holds is tighter does not make the whole tighter.
	contrary bool
}

// keywords are those that are known. A change of any other opens, for all we know.
var keywords = map[string]keyword{
	"title": {rating: asText}, "description": {rating: asText}, "$comment": {rating: asText}, "default": {rating: asText}, "examples": {rating: asText},
	"deprecated": {rating: asText}, "readOnly": {rating: asText}, "writeOnly": {rating: asText},

	"type": {rating: asType, set: true}, "enum": {rating: asEnum, set: true}, "const": {rating: asDemand},
	"maximum": {rating: asUpper}, "exclusiveMaximum": {rating: asUpper}, "maxLength": {rating: asUpper}, "maxItems": {rating: asUpper}, "maxProperties": {rating: asUpper},
	"minimum": {rating: asLower}, "exclusiveMinimum": {rating: asLower}, "minLength": {rating: asLower}, "minItems": {rating: asLower}, "minProperties": {rating: asLower},
	"multipleOf": {rating: asDemand}, "pattern": {rating: asDemand}, "format": {rating: asDemand}, "uniqueItems": {rating: asDemand},
	"required": {rating: asRequired, set: true}, "$schema": {rating: asDialect},

	"properties": {holds: named}, "items": {holds: one}, "prefixItems": {holds: list}, "additionalItems": {holds: one}, "additionalProperties": {holds: one},
	"unevaluatedItems": {holds: one}, "unevaluatedProperties": {holds: one}, "patternProperties": {holds: named, contrary: true},
	"allOf": {holds: list}, "anyOf": {holds: list}, "oneOf": {holds: list, contrary: true}, "not": {holds: one, contrary: true},
	"if": {holds: one, contrary: true}, "then": {holds: one, contrary: true}, "else": {holds: one, contrary: true},
	"contains": {holds: one, contrary: true}, "propertyNames": {holds: one}, "dependentSchemas": {holds: named, contrary: true},
	"$defs": {holds: named, contrary: true}, "definitions": {holds: named, contrary: true},
}

// dialects are values of $schema that clients and servers take for one.
var dialects = map[string]bool{
	"": true, "https://json-schema.org/draft/2020-12/schema": true, "https://json-schema.org/draft/2019-09/schema": true,
	"http://json-schema.org/draft-07/schema#": true, "http://json-schema.org/draft-07/schema": true,
}

// members are those of an entry, by kind (MCP 2025-11-25 and 2026-07-28, schema.ts: Tool,
// Prompt, ResourceTemplate). Any other is in doubt.
var members = map[EntryKind]map[string]rating{
	Tool: {
		"name": asName, "title": asShown, "icons": asShown, "_meta": asShown, "description": asText,
		"annotations": asHints, "inputSchema": asSchema, "outputSchema": asOutput,
	},
	Prompt: {
		"name": asName, "title": asShown, "icons": asShown, "_meta": asShown, "description": asText, "arguments": asArgs,
	},
	Template: {
		"uriTemplate": asName, "name": asText, "title": asShown, "icons": asShown, "_meta": asShown, "description": asText,
		"mimeType": asShown, "annotations": asShown,
	},
}
