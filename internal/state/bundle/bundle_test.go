package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/clawai/clawai/internal/state/bundle"
)

const rules = "[[rule]]\naction = \"deny\"\ntool = \"*push*\"\n"

var day = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

func newKey(t testing.TB, name string) (secret, public string) {
	t.Helper()
	secret, public, err := bundle.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	return secret, public
}

func signed(t testing.TB, b bundle.Bundle, keys ...string) []byte {
	t.Helper()
	src, err := bundle.Write(b)
	for _, key := range keys {
		if err == nil {
			src, err = bundle.Sign(src, key)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func full() bundle.Bundle {
	return bundle.Bundle{Counter: 7, Created: day, Files: []bundle.File{
		{"policy.toml", []byte("packs = [\"words.toml\"]\n" + rules)},
		{"words.toml", []byte("name = \"words\"\n")},
		{"fixtures/a/push.json", []byte(`{"method":"tools/call"}`)},
		{"fixtures/empty.json", nil},
	}}
}

func TestBundleIsReadAsItWasWritten(t *testing.T) {
	secret, public := newKey(t, "team.example")
	other, otherPublic := newKey(t, "second.example")
	src := signed(t, full(), secret, other)
	for _, keys := range [][]string{{public}, {otherPublic}, {public, otherPublic, public}} {
		b, signers, err := bundle.Read(src, keys)
		if err != nil {
			t.Fatal(err)
		}
		if b.Counter != 7 || !b.Created.Equal(day) || len(b.Files) != 4 || len(b.Fixtures()) != 2 || len(b.Packs()) != 1 || !strings.HasSuffix(string(b.Policy()), rules) {
			t.Errorf("%+v", b)
		}
		if want := len(keys); want == 3 && len(signers) != 2 || want == 1 && len(signers) != 1 {
			t.Errorf("signers %v", signers)
		}
		again, err := bundle.Write(b)
		if err != nil {
			t.Fatal(err)
		}
		if plain, _ := bundle.Write(full()); !bytes.Equal(plain, again) {
			t.Error("written in another form")
		}
	}
	if again, err := bundle.Sign(src, secret); err != nil || len(again) != len(src) {
		t.Errorf("signing twice: %d bytes become %d, %v", len(src), len(again), err)
	}
}

func TestUnsignedAndForeignBundlesAreRefused(t *testing.T) {
	secret, public := newKey(t, "team.example")
	_, foreign := newKey(t, "team.example") // the same name, another key
	plain := signed(t, full())
	src := signed(t, full(), secret)
	for name, c := range map[string]struct {
		src  []byte
		keys []string
		want string
	}{
		"unsigned":         {plain, []string{public}, "not signed"},
		"another key":      {src, []string{foreign}, "none of the keys"},
		"no key":           {src, nil, "no key"},
		"key that is none": {src, []string{"x"}, "not a key"},
		"secret as a key":  {src, []string{secret}, "not a key"},
	} {
		if _, _, err := bundle.Read(c.src, c.keys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No byte of a signed bundle can be changed, lost or added.
func TestEveryByteIsSigned(t *testing.T) {
	secret, public := newKey(t, "team.example")
	src := signed(t, full(), secret)
	for at := range src {
		for _, bit := range []byte{1, 2, 0x20, 0x80} {
			changed := bytes.Clone(src)
			changed[at] ^= bit
			if _, _, err := bundle.Read(changed, []string{public}); err == nil {
				t.Fatalf("byte %d changed: accepted", at)
			}
		}
		if _, _, err := bundle.Read(src[:at], []string{public}); err == nil {
			t.Fatalf("cut after %d bytes: accepted", at)
		}
	}
	if _, _, err := bundle.Read(append(bytes.Clone(src), '\n'), []string{public}); err == nil {
		t.Fatal("a byte added: accepted")
	}
}

// What a key signs is still refused if it is more than rules: the key may be stolen.
func TestSignedBundleWithMoreThanRulesIsRefused(t *testing.T) {
	secret, public := newKey(t, "team.example")
	policy := func(text string) []bundle.File { return []bundle.File{{"policy.toml", []byte(text)}} }
	for name, files := range map[string][]bundle.File{
		"no policy":             {{"fixtures/a.json", nil}},
		"a program":             {{"policy.toml", []byte(rules)}, {"run.sh", []byte("#!/bin/sh\n")}},
		"the configuration":     {{"config.toml", []byte("[[upstream]]\n")}, {"policy.toml", []byte(rules)}},
		"a hook":                {{"hooks/pre.json", []byte("{}")}, {"policy.toml", []byte(rules)}},
		"a pack nobody names":   {{"policy.toml", []byte(rules)}, {"words.toml", nil}},
		"a pack that is absent": policy("packs = [\"words.toml\"]\n" + rules),
		"a pack of the laptop":  policy("packs = [\"/home/me/words.toml\"]\n" + rules),
		"a pack in the home":    policy("packs = [\"~/words.toml\"]\n" + rules),
		"a pack above":          policy("packs = [\"../words.toml\"]\n" + rules),
		"a port of Windows":     {{"Com1.x.toml", nil}, {"policy.toml", []byte("packs = [\"Com1.x.toml\"]\n" + rules)}},
		"no name at all":        {{"fixtures/.json", nil}, {"policy.toml", []byte(rules)}},
		"no name in a folder":   {{"fixtures/a/.json", nil}, {"policy.toml", []byte(rules)}},
		"an empty folder":       {{"fixtures//a.json", nil}, {"policy.toml", []byte(rules)}},
		"deep":                  {{"fixtures/1/2/3/4/5/6/7/8/a.json", nil}, {"policy.toml", []byte(rules)}},
		"a long name":           {{"fixtures/" + strings.Repeat("a", 200) + ".json", nil}, {"policy.toml", []byte(rules)}},
		"a pack of Windows":     {{"con.toml", nil}, {"policy.toml", []byte("packs = [\"con.toml\"]\n" + rules)}},
		"the policy as a pack":  policy("packs = [\"policy.toml\"]\n" + rules),
		"a file of the laptop":  policy("extends = [{ file = \"a.toml\", sha256 = \"" + strings.Repeat("0", 64) + "\" }]\n" + rules),
		"out of the folder":     {{"fixtures/../../x.json", nil}, {"policy.toml", []byte(rules)}},
		"hidden":                {{"fixtures/.x.json", nil}, {"policy.toml", []byte(rules)}},
		"folded":                {{"fixtures/A.json", nil}, {"fixtures/a.json", nil}, {"policy.toml", []byte(rules)}},
		"twice":                 {{"policy.toml", []byte(rules)}, {"policy.toml", []byte(rules)}},
		"not UTF-8":             policy(rules + "# \xff\n"),
		"a line end in a name":  {{"fixtures/a\nb.json", nil}, {"policy.toml", []byte(rules)}},
	} {
		if _, err := bundle.Write(bundle.Bundle{Counter: 1, Created: day, Files: files}); err == nil {
			t.Errorf("%s: written", name)
		}
		if _, _, err := bundle.Read(forge(t, secret, "clawai bundle 1\ncounter 1\ncreated 2026-11-30T10:00:00Z\n", files), []string{public}); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	for name, head := range map[string]string{
		"another version":   "clawai bundle 2\ncounter 1\ncreated 2026-11-30T10:00:00Z\n",
		"counter 0":         "clawai bundle 1\ncounter 0\ncreated 2026-11-30T10:00:00Z\n",
		"counter +1":        "clawai bundle 1\ncounter +1\ncreated 2026-11-30T10:00:00Z\n",
		"counter 01":        "clawai bundle 1\ncounter 01\ncreated 2026-11-30T10:00:00Z\n",
		"counter too large": fmt.Sprintf("clawai bundle 1\ncounter %d\ncreated 2026-11-30T10:00:00Z\n", uint64(bundle.MaxCounter)+1),
		"a zone":            "clawai bundle 1\ncounter 1\ncreated 2026-11-30T10:00:00+01:00\n",
		"no time":           "clawai bundle 1\ncounter 1\n",
		"no counter":        "clawai bundle 1\ncreated 2026-11-30T10:00:00Z\n",
	} {
		if _, _, err := bundle.Read(forge(t, secret, head, policy(rules)), []string{public}); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	if _, _, err := bundle.Read(forge(t, secret, "clawai bundle 1\ncounter 1\ncreated 2026-11-30T10:00:00Z\n", policy(rules)), []string{public}); err != nil {
		t.Errorf("the forger cannot forge: %v", err)
	}
}

// forge signs what Write would refuse.
func forge(t testing.TB, secret, head string, files []bundle.File) []byte {
	t.Helper()
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	var content []byte
	for _, f := range files {
		head += fmt.Sprintf("%s %d %x\n", f.Name, len(f.Text), sha256.Sum256(f.Text))
		content = append(content, f.Text...)
	}
	src, err := note.Sign(&note.Note{Text: head}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(src, '\n'), content...)
}

func TestLargeBundlesAreRefused(t *testing.T) {
	big := bundle.Bundle{Counter: 1, Created: day, Files: []bundle.File{{"policy.toml", append([]byte(rules), bytes.Repeat([]byte("# x\n"), bundle.MaxSize/4)...)}}}
	if _, err := bundle.Write(big); err == nil {
		t.Error("written")
	}
	_, public := newKey(t, "team.example")
	if _, _, err := bundle.Read(make([]byte, bundle.MaxSize+1), []string{public}); err == nil {
		t.Error("read")
	}
	many := bundle.Bundle{Counter: 1, Created: day, Files: []bundle.File{{"policy.toml", []byte(rules)}}}
	for i := range bundle.MaxFiles {
		many.Files = append(many.Files, bundle.File{Name: bundle.FixtureName(fmt.Sprintf("%d.json", i))})
	}
	if _, err := bundle.Write(many); err == nil {
		t.Error("too many files written")
	}
}

// FuzzRead: a manifest and a content that a key has signed are read in the one form that Write gives
// them, or not at all; and nothing is read whose bytes nobody has signed.
func FuzzRead(f *testing.F) {
	secret, public := newKey(f, "team.example")
	for _, b := range []bundle.Bundle{full(), {Counter: 1, Created: day, Files: []bundle.File{{"policy.toml", []byte(rules)}}}} {
		plain, err := bundle.Write(b)
		if err != nil {
			f.Fatal(err)
		}
		head, content, _ := bytes.Cut(plain, []byte("\n\n"))
		f.Add(string(head)+"\n", content)
		f.Add(string(head)+"\n", signed(f, b, secret))
	}
	f.Add("clawai bundle 1\n", []byte("\n\n— x y\n\n"))
	signer, err := note.NewSigner(secret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, content []byte) {
		if _, _, err := bundle.Read([]byte(text+"\n"+string(content)), []string{public}); err == nil {
			t.Fatalf("read without a signature: %q %q", text, content)
		}
		src, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			return
		}
		src = append(append(src, '\n'), content...)
		b, _, err := bundle.Read(src, []string{public})
		if err != nil {
			return
		}
		again, err := bundle.Write(b)
		if err != nil {
			t.Fatalf("read, and not written: %v", err)
		}
		if again, err = bundle.Sign(again, secret); err != nil || !bytes.Equal(again, src) {
			t.Fatalf("read %q, and written as %q, %v", src, again, err)
		}
	})
}
