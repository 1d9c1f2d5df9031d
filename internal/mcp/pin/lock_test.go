package pin

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
	"pgregory.net/rapid"
)

func locks(t *rapid.T) (l Lock, all []map[string]any) {
	s := SelfDescription{Start: []string{"npx", "-y", "x"}, Version: "1", Instructions: rapid.String().Draw(t, "instructions")}
	for range rapid.IntRange(0, 4).Draw(t, "tools") {
		tool := tools(t)
		if s.Add(mustRead(t, Tool, spelled(t, tool, ""))) == nil {
			all = append(all, tool)
		}
	}
	_ = s.Add(mustRead(t, Prompt, `{"name":"p\u200b","description":"\u202e\u2028\ue000\ud83d\ude00<&>\u007f"}`))
	_ = s.Add(mustRead(t, Template, `{"uriTemplate":"x:{y}"}`))
	return Lock{"a": s, "b": {}}, all
}

// A lock is read as it was written, shows every character that it has, and has the same
// bytes whatever order and spelling the lists came in.
func TestLockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, all := locks(t)
		text := l.Text()
		if strings.ContainsFunc(string(text), func(r rune) bool { return r != '\n' && !textclass.IsSeen(r) }) || !utf8.Valid(text) || bytes.Contains(text, []byte(" \n")) {
			t.Fatalf("%q", text)
		}
		back, err := ReadLock(text)
		if err != nil || !bytes.Equal(back.Text(), text) {
			t.Fatalf("%v: %s\n%s", err, text, back.Text())
		}
		before, after := l["a"], back["a"]
		if d := CompareServers(&before, &after); len(d) > 0 {
			t.Fatalf("%+v", d)
		}
		shuffled := SelfDescription{Start: before.Start, Version: before.Version, Instructions: before.Instructions}
		for _, tool := range rapid.Permutation(all).Draw(t, "order") {
			_ = shuffled.Add(mustRead(t, Tool, spelled(t, tool, "")))
		}
		for _, kind := range []EntryKind{Template, Prompt} {
			for _, e := range before.entries[kind] {
				_ = shuffled.Add(e)
			}
		}
		if got := (Lock{"b": {}, "a": shuffled}).Text(); !bytes.Equal(got, text) {
			t.Fatalf("%s\n%s", got, text)
		}
	})
}

func TestLockThatIsNone(t *testing.T) {
	s := SelfDescription{}
	if err := s.Add(mustRead(t, Tool, `{"name":"find","description":"Finds."}`)); err != nil {
		t.Fatal(err)
	}
	good := string(Lock{"a": s}.Text())
	if _, err := ReadLock([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ old, new, want string }{
		{`"formula": 1`, `"formula": 2`, "formula is 2"},
		{`"formula": 1`, `"formula": 1, "time": 3`, `"time" is not known`},
		{`"formula": 1,`, ``, `"formula" is missing`},
		{`"version": ""`, `"versions": ""`, `"versions" is not known`},
		{`"version": ""`, `"version": null`, `are texts`},
		{`"start": []`, `"start": [1]`, `list of texts`},
		{`Finds.`, `Sends.`, `its digest is another`},
		{`"find": {`, `"send": {`, `its name is "find"`},
		{`"find": {`, `"find": {}, "find": {`, `is there twice`},
		{`"tools": {`, `"prompts": {}, "tools": {`, `is there twice`},
		{`"prompts": {}`, `"prompts": []`, `prompts is not an object`},
		{"\n}\n", "\n}\n{}", `after its end`},
		{"\n}\n", "\n", `unexpected EOF`},
		{`Finds.`, "Finds\xff.", `not UTF-8`},
		{`"servers": {`, `"deep": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `, "servers": {`, `nests deeper`},
	} {
		src := strings.Replace(good, tc.old, tc.new, 1)
		if src == good {
			t.Errorf("%q is not in it", tc.old)
		}
		if _, err := ReadLock([]byte(src)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.new, err)
		}
	}
}

// FuzzLock: whatever is read as a lock is written so that it reads the same, and written
// again has the same bytes; what is read as an entry has one canonical form.
func FuzzLock(f *testing.F) {
	s := SelfDescription{Instructions: "\u200b"}
	_ = s.Add(mustRead(f, Tool, `{"name":"find","inputSchema":{"required":["b","a"],"x":[1e400,1.0,null,{"a":true}]}}`))
	f.Add(Lock{"a": s}.Text())
	f.Add([]byte(`{"name":"x","uriTemplate":"y","arguments":[{"name":"a"},1],"inputSchema":{"items":[true,{"enum":["b","a"]}]},"n":-0.0e-00}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if l, err := ReadLock(src); err == nil {
			back, err := ReadLock(l.Text())
			if err != nil || !bytes.Equal(back.Text(), l.Text()) {
				t.Fatalf("%v\n%s", err, l.Text())
			}
		}
		for _, kind := range Kinds {
			e, err := Read(kind, src)
			if err != nil {
				continue
			}
			again, err := Read(kind, e.Text())
			if err != nil || again.TextDigest() != e.TextDigest() || len(DiffEntries(e, again)) > 0 {
				t.Fatalf("%v\n%s\n%s", err, e.Text(), again.Text())
			}
			if other := mustRead(t, kind, `{"`+kind.keyMember()+`":"x"}`); other.TextDigest() != e.TextDigest() && (len(DiffEntries(e, other)) == 0 || len(DiffEntries(other, e)) == 0) {
				t.Fatalf("%s and %s differ in nothing", e.Text(), other.Text())
			}
		}
	})
}
