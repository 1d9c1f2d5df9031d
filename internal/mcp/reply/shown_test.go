package reply

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
)

// What is not drawn is shown as it is written, unless it can be words to a model; a byte
// order mark where a text begins is left alone, and so the shown form is known in calls.
func TestWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		text, want string
		shown      []string
	}{
		{"\ufeffa,b", "\ufeffa,b", nil},
		{"a\ufeffb", "a\ufeffb", nil},
		{"a\ufeff\ufeff\ufeffb", "a<U+FEFF><U+FEFF><U+FEFF>b", []string{"<U+FEFF>"}},
		{"\ufeff\u200b\u200b\u200ba", "<U+FEFF><U+200B><U+200B><U+200B>a", []string{"<U+FEFF>", "<U+200B>"}},
		{"a\u200bb\u200bc", "a\u200bb\u200bc", nil},
		{"a\U000e0073", "a[clawai:withheld hidden 1]", nil},
		{"a\u200b\U000e0073\U000e0065", "a[clawai:withheld hidden 1]", nil},
		{"a\U000e0155", "a<U+E0155>", []string{"<U+E0155>"}},
		{"a\U000e0155\U000e0151", "a[clawai:withheld hidden 1]", nil},
		{"a" + strings.Repeat("\u200b", 16), "a" + strings.Repeat("<U+200B>", 16), []string{"<U+200B>"}},
		{"a" + strings.Repeat("\u200b", 17), "a[clawai:withheld hidden 1]", nil},
	} {
		quotedText := fmt.Sprintf("%q", c.text)
		if strings.Contains(quotedText, `\U`) { // which JSON does not have
			quotedText = `"` + c.text + `"`
		}
		m := looked(t, result(`{"content":[{"type":"text","text":`+quotedText+`}]}`), "tools/call", "hidden")
		var all []int
		for i := range m.Findings {
			all = append(all, i)
		}
		n := numbers()
		raw, err := m.AlterMessage(&Change{Redact: all}, n, frame.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got := string(raw)
		if want := fmt.Sprintf(`"text":%q`, c.want); !strings.Contains(got, want) && !strings.Contains(got, `"text":"`+c.want+`"`) {
			t.Errorf("%q came as %s, want %s", c.text, got, want)
		}
		if !slices.Equal(n.ShownEscapes(), c.shown) {
			t.Errorf("%q: shown as %q", c.text, n.ShownEscapes())
		}
		wanted, err := ParseWanted([]string{Marker})
		if err != nil {
			t.Fatal(err)
		}
		wanted.Shown = n.ShownEscapes()
		args := []byte(`{"edits":[{"oldText":"` + c.want + `"}]}`)
		found, err := FindInCall([][]byte{args}, nil, wanted)
		if marked := len(c.shown) > 0 || strings.Contains(c.want, withheld); err != nil || (len(found) > 0) != marked {
			t.Errorf("written back as %q: %+v, %v", c.want, found, err)
		}
		for _, f := range found {
			if f.Kind != Marker || f.Pointer != "/edits/0/oldText" {
				t.Errorf("%+v", f)
			}
		}
	}
	n := numbers()
	for i := range 100 {
		n.noteEscape(fmt.Sprintf("<U+%04X>", 0x2000+i))
	}
	if len(n.ShownEscapes()) != maxEscapes {
		t.Errorf("a session knows %d", len(n.ShownEscapes()))
	}
}

// TestShownEscapesInKnownNames: a name that held nothing holds a mark once the session has shown an escape, also where JSON
// inside the name writes the escape.
func TestShownEscapesInKnownNames(t *testing.T) {
	wanted, err := ParseWanted([]string{Marker})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"<U+200B>":{}}`, `{"[\"\\u003cU+200B>\"]":{}}`, `{"{\"a\":\"\\u003cU+200B>\"}":null}`, `{"[\"\\u003cU+20\\u0030B>\"]":[]}`} {
		for range 2 {
			if found, err := FindInCall([][]byte{[]byte(args)}, nil, wanted); err != nil || len(found) > 0 {
				t.Errorf("%s before: %v, %v", args, found, err)
			}
		}
		later := wanted
		later.Shown = []string{"<U+200B>"}
		if found, err := FindInCall([][]byte{[]byte(args)}, nil, later); err != nil || len(found) != 1 {
			t.Errorf("%s later: %v, %v", args, found, err)
		}
	}
}
