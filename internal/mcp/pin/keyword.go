package pin

// position tells where the value of a keyword has schemas.
type position uint8

const (
	none  position = iota // nowhere
	one                   // the value is a schema, or an array of schemas (items in draft 7)
	list                  // an array of schemas
	named                 // an object of schemas
)

// rating tells how a change of a member is judged.
type rating uint8

const (
	asDoubt    rating = iota // the meaning is unknown, so the change counts as widening
	asName                   // the name of the entry, which is not compared
	asShown                  // people see it in a list
	asText                   // a model reads it
	asHints                  // the annotations of a tool
	asSchema                 // the schema of a tool's arguments
	asOutput                 // the schema of a tool's results
	asArgs                   // the arguments of a prompt
	asType                   // the keyword type
	asEnum                   // the keyword enum
	asUpper                  // an upper bound; a lower value is tighter
	asLower                  // a lower bound; a higher value is tighter
	asDemand                 // a condition; without the member there is no condition
	asRequired               // the keyword required
	asDialect                // the keyword $schema
)

// keyword is one member of a schema (JSON Schema 2020-12 and draft 7).
type keyword struct {
	rating rating   // how a change is judged, for a keyword without schemas
	holds  position // where the value has schemas
	set    bool     // the value is an array without order, in which repeats mean nothing
	// contrary means that a tighter schema in this keyword does not make the whole schema tighter.
	contrary bool
}

// keywords are the known keywords. A change of an unknown keyword counts as widening.
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

// dialects are the values of $schema that make no difference to clients and servers.
var dialects = map[string]bool{
	"": true, "https://json-schema.org/draft/2020-12/schema": true, "https://json-schema.org/draft/2019-09/schema": true,
	"http://json-schema.org/draft-07/schema#": true, "http://json-schema.org/draft-07/schema": true,
}

// members are the known members of an entry, by kind (MCP 2025-11-25 and 2026-07-28, schema.ts:
// Tool, Prompt, ResourceTemplate). An unknown member is rated asDoubt.
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
