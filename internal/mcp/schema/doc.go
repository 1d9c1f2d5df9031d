// Package schema checks JSON against JSON Schemas from strangers, within a budget of steps, so
// that it always answers soon. A part that it does not know, or has no steps left for, is
// Unchecked, never Fits.
//
// It supports the keywords that servers use, of draft 2020-12 (MCP's default when a schema names
// none) and of draft 7. References must stay inside the schema, format is only a note as in both
// drafts, and a pattern is matched only against plain ASCII, where all dialects of regular
// expressions agree.
package schema
