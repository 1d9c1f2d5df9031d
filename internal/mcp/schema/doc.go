// Package schema checks JSON values against JSON Schemas from untrusted servers. Each check has a
// limited number of steps, so that it always ends soon. If a part is unknown, or if no steps are
// left for it, the result is Unchecked, never Fits.
//
// It supports the keywords that servers use, of draft 2020-12 (MCP's default if a schema names no
// draft) and of draft 7. References must stay inside the schema. The keyword format is only a note,
// as in both drafts. A pattern is matched only against plain ASCII, where all dialects of regular
// expressions agree.
package schema
