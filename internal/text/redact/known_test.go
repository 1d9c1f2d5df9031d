package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/testing/slow"
)

const (
	canary = "cAn4ry/+ ?value~"
	quoted = "a \"qu\\oted\" & <100%> v\u00e4lue\U0001f511"
)

func known(values ...string) *Known {
	var all [][]byte
	for _, v := range values {
		all = append(all, []byte(v))
	}
	return NewKnown(all)
}

func forms(v string) map[string]string {
	var percent strings.Builder
	for i := range len(v) {
		percent.WriteString("%" + strings.ToLower(string("0123456789ABCDEF"[v[i]>>4])) + string("0123456789ABCDEF"[v[i]&15]))
	}
	marshaled, _ := json.Marshal(v) // texts always do
	inside := string(marshaled[1 : len(marshaled)-1])
	var ascii, units strings.Builder
	for _, c := range v {
		if c >= ' ' && c < 0x80 && c != '"' && c != '\\' {
			ascii.WriteRune(c)
			units.WriteRune(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
			fmt.Fprintf(&units, `\u%04X`, unit)
		}
	}
	return map[string]string{
		"JSON": inside, "JSON in ASCII": ascii.String(), "JSON in upper case": units.String(), "JSON with slashes": strings.ReplaceAll(inside, "/", `\/`),
		"plain": v, "query": url.QueryEscape(v), "path": url.PathEscape(v), "every byte": percent.String(),
		"base64": base64.StdEncoding.EncodeToString([]byte(v)), "url base64": base64.RawURLEncoding.EncodeToString([]byte(v)),
		"basic": base64.StdEncoding.EncodeToString([]byte("user:" + v)), "basic, one more": base64.StdEncoding.EncodeToString([]byte("users:" + v + "x")),
		"basic, two more": base64.URLEncoding.EncodeToString([]byte("u:" + v + "xy")),
	}
}

func testForms(t *testing.T, value string) {
	t.Helper()
	k := known(value, "short", "another-of-them")
	for name, form := range forms(value) {
		text := "at 100%: a+b " + form + " and on"
		start, end, ok := k.FindKnown([]byte(text), 0)
		if !ok || !strings.Contains(form, text[start:end]) || len(form)-(end-start) > 12 {
			t.Errorf("%s: %q, %v in %q", name, text[start:end], ok, form)
		}
		if _, _, again := k.FindKnown([]byte(text), end); again {
			t.Errorf("%s: found twice", name)
		}
		if got := k.MaskText(text); !strings.Contains(got, "[redacted:vault]") || k.ContainsKnown([]byte(got)) || !strings.HasSuffix(got, " and on") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestKnownForms(t *testing.T) {
	for _, value := range []string{canary, quoted} {
		testForms(t, value)
	}
	k := known(canary)
	for _, text := range []string{"", "short", "cAn4ry/+ ?value", "%", "%6", "100% + %41%zz", strings.ToLower(canary)} {
		if k.ContainsKnown([]byte(text)) {
			t.Errorf("%q counts as secret", text)
		}
	}
	if none := known("short"); none != nil || none.ContainsKnown([]byte("short")) || none.MaskText(canary) != canary {
		t.Error("nothing to know, and something is found")
	}
}

// A line of a value that has several is one too.
func TestKnownLines(t *testing.T) {
	k := known("-----BEGIN\nfirst-line-of-a-key\nsecond-line-of-a-key\n}")
	if got := k.MaskText("a second-line-of-a-key b -----BEGIN }"); got != "a [redacted:vault] b -----BEGIN }" {
		t.Error(got)
	}
}

// The record keeps no known value in any mode, whole or at the cut, in names, texts and numbers.
func TestKnownInTheRecord(t *testing.T) {
	long := strings.Repeat("long-canary ", 200)
	for _, mode := range []Mode{Redacted, Hashed, Full} {
		r := New(mode, testKey)
		r.HideKnown(known(canary, "12345678901", long))
		for name, form := range forms(canary) {
			got, _ := r.AppendJSON(nil, []byte(`{"a":"x `+form+`","`+form+`":[12345678901]}`))
			if strings.Contains(string(got), form) || strings.Contains(string(got), "12345678901") || strings.Count(string(got), "[redacted:vault:") != 3 {
				t.Errorf("%v, %s: %s", mode, name, got)
			}
		}
		text := strings.Repeat("x", MaxText-20) + long
		if got := string(r.AppendString(nil, text)); strings.Contains(got, "long-") {
			t.Errorf("%v: %s", mode, got[MaxText-50:])
		}
		args, _ := r.AppendJSON(nil, []byte(`["`+strings.ReplaceAll(text, "long-", `\u006cong-`)+`"]`))
		if strings.Contains(string(args), "long-") {
			t.Errorf("%v: %s", mode, args[MaxText-50:])
		}
	}
}

// JSON stays JSON, whatever a value is and wherever it stands.
func TestKnownInJSON(t *testing.T) {
	for _, c := range []struct{ value, in, out string }{
		{"canary-in-here", `{"a":"it is canary-in-here, yes","canary-in-here":[1,"x"]}`, `{"a":"it is [redacted:vault], yes","[redacted:vault]":[1,"x"]}`},
		{"canary-in-here", `{"a":"\u0063anary-in-here\n","b":"Y2FuYXJ5LWluLWhlcmU=","c":"\u00e9"}`, `{"a":"[redacted:vault]\n","b":"[redacted:vault]U=","c":"\u00e9"}`},
		{"n-canary-in-here", `["\n-canary-in-here","an-canary-in-here"]`, `["\n-canary-in-here","a[redacted:vault]"]`},
		{`canary"in\here`, `["canary\"in\\here"]`, `["[redacted:vault]"]`},
		{`"type":"x"`, `{"type":"x","a":"\"type\":\"x\""}`, `{"type":"x","a":"[redacted:vault]"}`},
		{"12345678", `{"a":12345678,"b":[-1,true,-12345678.5]}`, `{"a":"[redacted:vault]","b":[-1,true,"[redacted:vault]"]}`},
		{"canary-in-here", `{"a":"none"}`, `{"a":"none"}`},
	} {
		got := string(NewKnown([][]byte{[]byte(c.value)}).MaskJSON([]byte(c.in)))
		if got != c.out {
			t.Errorf("%s: %s, not %s", c.in, got, c.out)
		}
	}
	var none *Known
	if got := none.MaskJSON([]byte(`{"a":"canary"}`)); string(got) != `{"a":"canary"}` {
		t.Errorf("without values: %s", got)
	}
}

// Both alphabets of base64 in one text, in either order: neither hides the other.
func TestKnownBothAlphabets(t *testing.T) {
	k, all := known(canary), forms(canary)
	for _, text := range []string{all["basic"] + " " + all["basic, two more"], all["basic, two more"] + " " + all["basic"]} {
		if got := k.MaskText(text); strings.Count(got, knownMark) != 2 || k.ContainsKnown([]byte(got)) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestKnownCopy(t *testing.T) {
	slow.Test(t)
	k := known(canary)
	var text strings.Builder
	for _, form := range forms(canary) {
		text.WriteString("line " + form + " end\n" + form)
	}
	text.WriteString(strings.Repeat("no end ", 10_000) + canary + strings.Repeat(" no end", 10_000) + canary)
	for name, read := range map[string]io.Reader{"whole": strings.NewReader(text.String()), "bytes": iotest.OneByteReader(strings.NewReader(text.String()))} {
		var out bytes.Buffer
		if err := k.CopyMasked(&out, read); err != nil || k.ContainsKnown(out.Bytes()) || strings.Count(out.String(), "[redacted:vault]") != 2*len(forms(canary))+2 {
			t.Errorf("%s: %v, %d", name, err, strings.Count(out.String(), "[redacted:vault]"))
		}
		if strings.Count(out.String(), "no end") != 20_000 {
			t.Errorf("%s: what is no secret is lost", name)
		}
	}
}

func FuzzKnown(f *testing.F) {
	f.Add("a "+canary+" b", canary)
	f.Add("%63An4ry%2F+%20%3Fvalue~", canary)
	f.Add(`a \"qu\\oted\" \u0026 <100%25> v\u00e4lue\ud83d\udd11`, quoted)
	f.Fuzz(func(t *testing.T, text, value string) {
		k := known(value)
		start, end, ok := k.FindKnown([]byte(text), 0)
		if ok && (start < 0 || end <= start || end > len(text)) {
			t.Fatal(start, end)
		}
		if !ok && len(value) >= Shortest && strings.Contains(text, value) {
			t.Fatal("a plain value is not found")
		}
		var out bytes.Buffer
		if k == nil {
			return
		}
		if err := k.CopyMasked(&out, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(value, "\n") && !ok && out.String() != text {
			t.Fatalf("%q became %q", text, out.String())
		}
	})
}

func BenchmarkKnown(b *testing.B) {
	k := known("ghp_16C7e42F292c6912E7710c838347Ae178B4a", canary, "another-of-them-all", "xoxb-17653672481-19874698323")
	text := []byte(strings.Repeat(`{"type":"text","text":"an ordinary reply of a server, 100% text + more"},`, 1<<10))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if k.ContainsKnown(text) {
			b.Fatal("found")
		}
	}
}
