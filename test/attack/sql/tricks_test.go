//go:build attack && linux

package sql

import (
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// tricks are texts that were once taken for reading. Each does something in the engine,
// behind settings that a server may have.
var tricks = map[string][]struct{ setting, text string }{
	"PostgreSQL": {
		{"", `SELECT '\', ('{1,2}'::int[])[1:e'2020-01-02\'' - date '2020-01-01'];DELETE FROM t;--']`},
		{"", "SELECT pg_read_file.pg_read_file FROM unnest(ARRAY['canary']) pg_read_file(a)"},
		{"", "SELECT wipe.wipe FROM unnest(ARRAY[1]) AS wipe(a)"},
		{"", "SELECT x.wipe FROM COLLATION FOR ('a') x"},
		{"", "SELECT pg_collation_for.wipe FROM COLLATION FOR ('a')"},
		{"", "SELECT text.wipe FROM CAST('a' AS text)"},
		{"", "SELECT btrim.wipe FROM u, TRIM('a')"},
		{"", "SELECT a.wipe FROM t, LATERAL CAST(t.a AS int)"},
		{"", "SELECT wipe.wipe FROM jsonb_array_elements('[1]') wipe"},
		{"", `SELECT lower."Lower" FROM lower('A')`},
		{"", "SELECT (true).top FROM u"},
		{"SET standard_conforming_strings = off", `SELECT '\'', 2*/**/3;DELETE FROM t;--'`},
		{"SET standard_conforming_strings = off", `SELECT '\'', !!'a'::tsquery;DELETE FROM t;--'`},
	},
	"MariaDB": {
		{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT '\',{x 1};DELETE FROM t;-- '`},
		{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT '\',\N;DELETE FROM t;-- '`},
		{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT '\',!1;DELETE FROM t;-- '`},
		{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT '\',2*/**/1;DELETE FROM t;-- '`},
		{"SET NAMES latin1", "SELECT 1 aàinto @a"},
	},
	"SQLite": {
		{"", "SELECT #abs(');DELETE FROM t;--')"},
		{"", "SELECT @1(');DELETE FROM t;--')"},
		{"", "SELECT @::abs(');DELETE FROM t;--')"},
		{"", "SELECT 1\n/\nPRAGMA user_version=7"},
		{"", "SELECT 1\ngo\nPRAGMA user_version=7"},
		{"", "SELECT 1\n / -- x\nPRAGMA user_version=7"},
	},
}

// Tricks work, and are not allowed.
func TestTricks(t *testing.T) {
	for _, one := range engines {
		t.Run(one.name, func(t *testing.T) {
			e := one.start(t)
			for _, trick := range tricks[one.name] {
				e.restore(t)
				if trick.setting != "" {
					e.run(t, []string{trick.setting})
				}
				before := e.state(t)
				did := e.run(t, []string{trick.text})
				if after := e.state(t); len(did) == 0 && after == before {
					t.Errorf("%q does nothing", trick.text)
				}
				for _, dialect := range []string{one.dialect, ""} {
					for _, text := range []string{trick.text, "SELECT 1;\n" + trick.text} {
						if judge(t, dialect).JudgeValue(value(text), true) == where.Yes {
							t.Errorf("%q: %q is a Yes", dialect, text)
						}
					}
				}
			}
		})
	}
}
