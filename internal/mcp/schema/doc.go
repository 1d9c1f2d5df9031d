// Package schema checks JSON against JSON Schemas that strangers have written, within a
// budget of steps: whatever they say, an answer comes soon. What it does not know, or has
// no steps left for, is Unchecked, never Fits.
//
// It knows the keywords that servers use, of draft 2020-12 (which MCP names where a schema
// says nothing) and of draft 7. No reference leads out of the schema, format is a note as
// both drafts have it, and a pattern is asked of plain ASCII alone, where all dialects of
// regular expressions agree.
package schema
