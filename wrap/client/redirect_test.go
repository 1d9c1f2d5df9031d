package client

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const front = "http://127.0.0.1:8808/SECRETSECRETSECRET/mcp/cursor/r"

// checkRedirect: to another parser nothing but the url differs, the entry says
// where it leads and where it led, and every byte comes back.
func checkRedirect(t *rapid.T, s remoteSample, e Entry, src []byte) {
	after, err := RedirectEntry(s.row, src, e, front)
	if err != nil {
		if strings.Contains(err.Error(), "holds a variable") && s.row.fillsText(s.url) {
			return
		}
		t.Fatalf("redirect: %v\n%s", err, src)
	}
	now := target(t, s.sample, after)
	if now.Kind != Remote || now.URL != s.url || now.Wrapped == nil || now.Wrapped.ProxyURL != front || now.Wrapped.Server != "r" || now.SignsIn != e.SignsIn || now.Problem != nil {
		t.Fatalf("read back %+v of\n%s", now, after)
	}
	if again, err := RedirectEntry(s.row, after, now, front); err != nil || string(again) != string(after) {
		t.Fatalf("twice: %v\n%s\n%s", err, after, again)
	}
	moved, err := RedirectEntry(s.row, after, now, strings.Replace(front, "8808", "9", 1))
	if err != nil || string(moved) == string(after) {
		t.Fatalf("to another port: %v\n%s", err, moved)
	}
	if _, err := Wrap(s.row, after, now, clawai); err == nil {
		t.Fatalf("wrapped in both forms\n%s", after)
	}
	for _, file := range [][]byte{after, moved} {
		if back, err := Unwrap(s.row, file, e); err != nil || string(back) != s.src {
			t.Fatalf("unwrap: %v\n%s\n%s", err, file, back)
		}
	}
	checkRedirectMeaning(t, s, after)
}

func checkRedirectMeaning(t *rapid.T, s remoteSample, after []byte) {
	want, err := decode(s.row.Format, s.src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(s.row.Format, string(after))
	if err != nil {
		t.Fatalf("%v\n%s", err, after)
	}
	entry, err := at(got, s.path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(in map[string]any) (led bool) {
		for _, field := range s.row.URLFields {
			if text, ok := in[field].(string); ok && strings.HasPrefix(text, front+"?") {
				in[field], led = s.url, true
			}
		}
		return led
	}
	led := put(entry)
	for _, inner := range entry {
		if m, ok := inner.(map[string]any); ok {
			led = led || put(m)
		}
	}
	if !led || !same(got, want) {
		t.Fatalf("led %v; got\n%v\nwant\n%v", led, got, want)
	}
}

func TestRedirect(t *testing.T) {
	in := func(entry string) string { return "{\"mcpServers\": {\"r\": {" + entry + "}}}" }
	for _, c := range []struct{ name, before, after string }{
		{"a url", `"url": "https://h/mcp"`, `"url": "` + front + `?clawai-for=https%3A%2F%2Fh%2Fmcp"`},
		{"headers stay", `"headers": {"Authorization": "Bearer ${X}"}, "url":"https://h?k=v"`,
			`"headers": {"Authorization": "Bearer ${X}"}, "url":"` + front + `?clawai-for=https%3A%2F%2Fh%3Fk%3Dv"`},
		{"its own spelling", `"url": "https:\/\/h"`, `"url": "` + front + `?clawai-for=https%3A%2F%2Fh&clawai-as=Imh0dHBzOlwvXC9oIg"`},
		{"what a process could not have", `"url": "https://h", "oauth": {"clientId": "x"}`,
			`"url": "` + front + `?clawai-for=https%3A%2F%2Fh", "oauth": {"clientId": "x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, e := remoteRow(JSON), Entry{Name: "r", KeyPath: []string{"mcpServers", "r"}}
			after, err := RedirectEntry(r, []byte(in(c.before)), e, front)
			if err != nil || string(after) != in(c.after) {
				t.Fatalf("%v\n%s", err, after)
			}
			if back, err := Unwrap(r, after, e); err != nil || string(back) != in(c.before) {
				t.Errorf("%v\n%s", err, back)
			}
		})
	}
	for _, c := range []struct{ name, entry, want string }{
		{"a variable", `"url": "https://${HOST}/"`, "use --remote=bridge"},
		{"a process", `"command": "x"`, "not a url that can lead elsewhere"},
		{"a bridge", `"command": "/bin/clawai","args":["proxy","--server","r","--was","url","--","https://h"]`, "clawai unwrap"},
		{"a list", `"url": ["https://h"]`, "write it as a string"},
		{"a fragment", `"url": "https://h/#x"`, "take it out"},
		{"a password", `"url": "https://a:b@h/"`, "put them into a header"},
		{"two of them", `"url": "https://h", "url": "https://i"`, "is there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, err := RedirectEntry(remoteRow(JSON), []byte(in(c.entry)), Entry{Name: "r", KeyPath: []string{"mcpServers", "r"}}, front)
			if err == nil || after != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\n%s", err, after)
			}
		})
	}
}

// Only what Redirect writes is taken for it: anything else is a server's own url.
func TestWhatIsNoRedirection(t *testing.T) {
	for _, text := range []string{
		"https://h/S/mcp/r?clawai-for=https%3A%2F%2Fi", "http://127.0.0.1:1/S/mcp/r", "http://127.0.0.1:1/mcp/r?clawai-for=x",
		"http://127.0.0.1:1/S/mcp/r?x=y&clawai-for=x", "http://127.0.0.1:1/S/mcp/r?clawai-for=a&clawai-for=b", "http://127.0.0.1:1/S/mcp/r?clawai-for=a&clawai-as=%",
		"http://127.0.0.1:1/S/mcp/r?clawai-for=a&clawai-as=!", "http://127.0.0.1:%/S/mcp/r?clawai-for=a",
	} {
		if r := readRedirection(text); r != nil {
			t.Errorf("%s is taken for %+v", text, r)
		}
	}
}
