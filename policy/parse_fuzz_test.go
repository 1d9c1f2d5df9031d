package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"", "[[re]]", "[[e]]\n[rule]", "[[rule]]\naction='allow'\ntool='*'\n", "\xef\xbb\xbf[[rule]]", "\xff\xfe", "[rule]\r\n", "[[rules]]", "a = ",
		ruleWith("args.a.b = ['x', \"\\u00e9\"]\nargs.'c d' = { e = '''f'''}\n[rule.args.g]\nh='i'"),
		ruleWith("args = { a = [ ] , b = {}, c.d = 1e3 }"),
		"# x\n[[rule]]\naction = deny\n[[rule]]\nmethod='ping'\nwhere.x=1\n", "extends=1\n[server.x]\n[[rule.args]]\n[rule.args]\n[[rule]]\n[[rule.args]]\n[rule.tool]",
		ruleWith("where = { a.sql = { mode = 'read-only' }, b = { one_of = [1, 'x', true], max_length = 3, c.present = false } }\n[rule.when]\nfrom='22:00'\ndays=['fri-mon']\nzone='UTC'\nafter=2026-01-01T00:00:00Z"),
		ruleWith("pinned=true\nlimit={rate='20/min', per='tool', over='prompt'}\n[rule.where.a]\nunder='~/x'\nregex='(a|b)*'\nmin=-0x1\nhost=['*.x']"),
		ruleWith("limit.rate='1 / day'\nwhere.a.command=['git **']\nwhen={to='24:00'}"),
		"[folders]\na=['~/x','/y/','${cwd}']\nb=[]\n" + ruleWith("args.p=['${a}','${a}/**','${c}x']\nnot.cwd='/x'\nwhere.p.under='${a}/z'\nwhere.c.command={run='cat **',paths=['${a}/**','!${a}/b/**']}\nnot.args.q='${a}/*'"),
		"[[rule]]\naction='deny'\nsampling='**'\nargs.x.y='1'\nargs.x='2'\nargs.x='2'",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		rules, errs := parseSource("p.toml", src)
		if len(errs) > 0 {
			if rules != nil {
				t.Fatal("rules beside errors")
			}
			checkPlaces(t, src, errs)
			return
		}
		var again strings.Builder
		for i, r := range rules {
			if r.Index != i || r.start >= r.end || !strings.HasPrefix(string(src[r.start:]), "[[") {
				t.Fatalf("rule %d: index %d, bytes %d to %d", i, r.Index, r.start, r.end)
			}
			again.WriteString(r.formatTOML())
		}
		var lists []FolderList
		if len(rules) > 0 {
			lists = rules[0].lists
		}
		written, errs := parseFile("p.toml", []byte(again.String()), lists)
		same := written.rules
		if diff := cmp.Diff(summarise(rules), summarise(same)); errs != nil || diff != "" {
			t.Fatalf("written again, the rules differ: %v\n%s\n%s", errs, diff, again.String())
		}
		for i := range rules {
			if a, b := rules[i], same[i]; a.formatTOML() != b.formatTOML() || a.Rate != b.Rate || a.Pinned != b.Pinned || a.OutOfBand != b.OutOfBand || a.Preview != b.Preview {
				t.Fatalf("written again, the rules differ:\n%s\n%s", a.formatTOML(), b.formatTOML())
			}
		}
	})
}

// checkPlaces holds findings to the order and the bounds of the file.
func checkPlaces(t *testing.T, src []byte, errs Errors) {
	lines := strings.Split(string(src), "\n")
	last := Position{}
	for _, e := range errs {
		if e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Pos.Column < 1 || e.Pos.Column > utf8.RuneCountInString(lines[e.Pos.Line-1])+1 {
			t.Fatalf("%v stands outside the file", e)
		}
		if e.Pos.Line < last.Line || e.Pos.Line == last.Line && e.Pos.Column < last.Column {
			t.Fatalf("%v stands before the finding above it", e)
		}
		if last = e.Pos; e.Msg == "" || !utf8.ValidString(e.Msg) {
			t.Fatalf("%v says nothing", e)
		}
	}
}
