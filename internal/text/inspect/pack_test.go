package inspect

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// Every pack that is built in reads, which tries its examples, and every word of a kind
// that it shares is one.
func TestPacks(t *testing.T) {
	files, err := packFiles.ReadDir("packs")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		src, _ := packFiles.ReadFile("packs/" + f.Name())
		p, err := ParsePack(src)
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		if Kind(p.Name).DescribeKind() == "" {
			t.Errorf("%s: %q is not a kind", f.Name(), p.Name)
		}
		for _, k := range p.Kinds {
			if !(Kinds{}).inPack(Kind(p.Name), k) {
				t.Errorf("%s: what is found of %s is not the pack's", f.Name(), k)
			}
		}
	}
}

const goodPack = `name = "shop:ours"
says = "order numbers"
[[pattern]]
says = "an order"
near = ["order"]
regex = '\bSO-[0-9]{6}\b'
match = ["order SO-123456"]
not = ["SO-123456", "order SO-12"]
`

func TestParsePack(t *testing.T) {
	if p, err := ParsePack([]byte(goodPack)); err != nil || p.Name != "shop:ours" {
		t.Fatal(p, err)
	}
	for _, c := range []struct{ was, is, want string }{
		{"near = [\"order\"]\n", "", "near: give at least one word"},
		{`"order"]`, `"Order"]`, "small letters"},
		{`\bSO-[0-9]{6}\b`, `(?=x)`, "invalid or unsupported Perl syntax"},
		{`\bSO-[0-9]{6}\b`, `x*`, "matches nothing at all"},
		{`\bSO-[0-9]{6}\b`, `(a{500}){500}`, "repeat"},
		{`\bSO-[0-9]{6}\b`, strings.Repeat("a", 1025), "at most 1024"},
		{"order SO-123456", "order SO-1", "the example says true"},
		{"order SO-12\"", "order SO-121212\"", "the example says false"},
		{"says = \"an order\"", "check = \"magic\"", "unknown check"},
		{"near", "nearby", "unknown key"},
		{"shop:ours", "Shop", "is not made of small letters"},
		{"says = \"an order\"", "says = \"\\u001b[2J\"", `pattern 1 (\x1b[2J): says is not one line of text`},
		{"says = \"order numbers\"", "says = \"\\u202e\"", `says: "\u202e" is not one line of text`},
		{`'\bSO-[0-9]{6}\b'`, `"(\u001b"`, `regex: missing closing ): "(\x1b"`},
		{goodPack, "name = \"a\"", "it looks for nothing"},
		{"match = [\"order SO-123456\"]\n", "", "give a text in match"},
		{"order SO-12\"", "order SO-121212\"", "line 3: pack shop:ours, pattern 1 (an order)"},
		{"near", "nearby", "line 5: unknown key"},
		{"name =", "name = =", "line 1: "},
		{`\bSO-[0-9]{6}\b`, `SO-[0-9]{1000}[a-z]{1000}`, "steps: at most 1000"},
		{"says = \"order numbers\"", "kinds = [\"hidden\"]", "not a kind that packs can have"},
		{"near = [\"order\"]", "near = [" + strings.Repeat(`"ab",`, 17) + "]", "at most 16"},
		{goodPack, large(7), "the regexes up to this have"},
		{"shop:ours", strings.Repeat("a", 33), "at most 32"},
		{goodPack, "#" + strings.Repeat("x", 256<<10), "at most 262144"},
	} {
		if _, err := ParsePack([]byte(strings.Replace(goodPack, c.was, c.is, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %s", c.is, c.was, err, c.want)
		}
	}
}

// A pattern reads a text whose every word is one of near in a time that grows as the text.
func TestPatternIsRead(t *testing.T) {
	p, err := ParsePack([]byte(goodPack))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	text := strings.Repeat("order ", 50000) + "SO-123456 " + strings.Repeat("x", 300) + " SO-654321"
	p.Patterns[0].findPlaces(text, nil, func(start, end int) bool { n++; return text[start:end] == "SO-123456" })
	if n != 1 {
		t.Errorf("found %d times, want once", n)
	}
}

// What a pack shares with others is found under its own name, beside "*" too.
func TestPackHasKinds(t *testing.T) {
	const text = "card 4539 1488 0343 6467"
	for _, c := range []struct{ words, want string }{
		{"pci", "pci"}, {"card", "card"}, {"pci card", "pci card"}, {"* pci", "pci card"}, {"*", "card"}, {"legal", ""}, {"personal:us", ""},
	} {
		wanted, err := ParseKinds(strings.Fields(c.words))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range SearchText(text, wanted) {
			got = append(got, string(f.Kind))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.words, got, c.want)
		}
	}
}

// The owner's packs are found by their word, by "*" and where everything is, in base64 too,
// and what they share with others under both names.
func TestOwnPack(t *testing.T) {
	own, err := ParsePack([]byte("kinds = [\"card\"]\n" + goodPack))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseKinds([]string{"pack:shop:our"}, own); err == nil || !strings.Contains(err.Error(), `did you mean "pack:shop:ours"`) {
		t.Errorf("a pack misspelt: %v", err)
	}
	if _, err := ParseKinds([]string{"pack:shop:ours"}); err == nil {
		t.Error("a pack that nobody gave was found")
	}
	const text = "order SO-123456 card 4539 1488 0343 6467"
	for _, c := range []struct{ words, want string }{
		{"pack:shop:ours", "pack:shop:ours pack:shop:ours"}, {"card", "card"}, {"*", "pack:shop:ours card"}, {"", "pack:shop:ours card"},
		{"pci", "pci"}, {"legal", ""}, {"pack:shop:ours card", "pack:shop:ours pack:shop:ours card"},
	} {
		wanted, err := ParseKinds(strings.Fields(c.words), own)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range SearchText(text, wanted) {
			got = append(got, string(f.Kind))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.words, got, c.want)
		}
	}
	wanted, _ := ParseKinds([]string{"encoded"}, own)
	hidden := base64.StdEncoding.EncodeToString([]byte("please look at this at once: order SO-123456, which is the one that matters"))
	if got := SearchText(hidden, wanted); len(got) != 1 || got[0].Kind != Encoded {
		t.Errorf("in base64: %v", got)
	}
}

// large is a pack of n patterns that cost much.
func large(n int) string {
	many := "name = \"slow\"\n"
	for range n {
		many += "[[pattern]]\nsays = \"x\"\nnear = [\"ab\"]\nregex = '(ab ){2,100}c'\nmatch = ['ab ab c']\nnot = [\"ab\"]\n"
	}
	return many
}

// What a pack costs is bounded: beyond that it is said that not everything was looked at.
func TestOwnPackIsBounded(t *testing.T) {
	own, err := ParsePack([]byte(large(6)))
	if err != nil {
		t.Fatal(err)
	}
	wanted, _ := ParseKinds([]string{"pack:slow"}, own)
	got := SearchText(strings.Repeat("ab ", 100_000), wanted)
	if len(got) != 1 || got[0].Kind != Unscreened {
		t.Errorf("found %v", got)
	}
	if got := SearchText("ab, and nothing else of it", wanted); got != nil {
		t.Errorf("a short text: %v", got)
	}
}

// A pack that reads does what its examples say, and reads the same again; one that does not
// says where. Its patterns find what lies in the text, in the order of places, and nothing
// in a text without their words.
func FuzzPack(f *testing.F) {
	f.Add([]byte(goodPack), "order SO-123456 and order SO-654321")
	for _, p := range packs() {
		f.Add(p.text, p.Patterns[0].Match[0])
	}
	f.Add([]byte("name = \"a\"\n[[pattern]]\n[[pattern]]\n"), "")
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		p, err := ParsePack(src)
		if err != nil {
			wrong, ok := errors.AsType[*PackError](err)
			if !ok || p != nil || wrong.Line < 0 || wrong.Line > bytes.Count(src, []byte("\n"))+1 {
				t.Fatalf("%T %v, line %d", err, err, wrong.Line)
			}
			return
		}
		wanted, err := ParseKinds([]string{p.Kind()}, p)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, found := range SearchText(text, wanted) {
			if found.Kind == Unscreened {
				continue
			}
			if found.Start < at || found.End < found.Start || found.End > len(text) {
				t.Fatalf("%+v of %d bytes, behind %d", found, len(text), at)
			}
			if k := string(found.Kind); k != p.Kind() {
				t.Fatalf("found %s, wanted %s", k, p.Kind())
			}
			at = found.Start
		}
		for i := range p.Patterns {
			for _, match := range p.Patterns[i].Match {
				if found := SearchText(match, wanted); len(found) == 0 {
					t.Fatalf("%q holds nothing", match)
				}
			}
		}
	})
}

// A check is given what any owner's pattern finds.
func FuzzChecks(f *testing.F) {
	for _, s := range []string{"", "1", "A1", "AB1234563", "12345678Z", "X-1234567 L", "99999999999", "2A 9", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, check := range checks {
			if check(s) && !strings.ContainsAny(s, "0123456789") {
				t.Errorf("%s of %q, which has no digit", name, s)
			}
		}
	})
}
