package hostlist

import (
	"strings"
	"testing"
)

func TestOpens(t *testing.T) {
	l, err := ParseList([]string{"api.example.com", "*.Example.org:443", "db.example.net:5432", "10.0.0.5", "[2001:db8::1]:8443", "localhost:3000", "xn--bcher-kva.example"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"api.example.com:443": true, "api.example.com:80": true, "API.Example.COM:443": true, "xn--bcher-kva.example:443": true,
		"a.example.org:443": true, "a.b.example.org:443": true, "db.example.net:5432": true, "10.0.0.5:443": true, "[2001:db8::1]:8443": true, "[2001:0DB8:0:0::1]:8443": true, "localhost:3000": true,

		"api.example.com:8080": false, "api.example.com": false, "api.example.com.evil.org:443": false, "evilapi.example.com:443": false, "example.com:443": false,
		"x.api.example.com:443": false, "example.org:443": false, "evilexample.org:443": false, "a.example.org:80": false, "a.example.org.evil.org:443": false,
		"db.example.net:443": false, "10.0.0.5:5432": false, "10.0.0.6:443": false, "[2001:db8::1]:443": false, "[2001:db8::2]:8443": false, "localhost:443": false, "127.0.0.1:3000": false,
	} {
		got, err := ParseTarget(text)
		if err != nil || l.Opens(got) != want {
			t.Errorf("%s: %v, %v", text, l.Opens(got), err)
		}
	}
}

// An entry without a port means every port.
func TestCovers(t *testing.T) {
	l, err := ParseList([]string{"api.example.com", "*.example.org:8443", "10.0.0.5"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"api.example.com:443": true, "api.example.com:9": true, "api.example.com": true, "a.example.org:8443": true, "10.0.0.5:1": true,
		"x.api.example.com:443": false, "a.example.org:443": false, "example.org:8443": false, "10.0.0.6:1": false,
	} {
		if got, err := ParseTarget(text); err != nil || l.Covers(got) != want {
			t.Errorf("%s: %v, %v", text, l.Covers(got), err)
		}
	}
}

// What programs read differently is no host.
func TestOddTargets(t *testing.T) {
	for _, text := range []string{
		"", ":443", "evil.org\x00.example.com:443", "api.example.com\x00:443", "api.example.com.:443", "api.example.com..:443", ".example.com:443", "a..example.com:443",
		"user@api.example.com:443", "api.example.com:443@evil.org:443", "api.example.com:443:443", "api.example.com:0443", "api.example.com:0", "api.example.com:65536", "api.example.com:", "api.example.com:x",
		"2130706433:443", "0x7f000001:443", "0177.0.0.1:443", "127.1:443", "127.0.0.1.:443", "0x7f.0.0.1:443", "[::ffff:127.0.0.1]:443", "[::ffff:7f00:1]:443", "[::1%lo]:443", "::1:443", "[::1:443",
		"bücher.example:443", "ａpi.example.com:443", "api。example.com:443", "api.example.com /:443", "api.example.com/x:443", "api.example.com\\x:443", "api.example.com#:443", "api.example.com?:443", "api.example.com\r\n:443",
		"api.example.com%2e:443", "*.example.com:443", "xn--a-:443",
	} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	for _, text := range []string{"*", "*.", "*.*", "a.*.b", "*a.example.com", "*.10.0.0.1", "*.[::1]", "**.example.com", "https://example.com", "example.com/path"} {
		if got, err := ParseEntry(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range [][3]string{
		{"a.org b.org", "b.org c.org", "b.org"},
		{"*.a.org", "x.a.org a.org *.y.a.org", "x.a.org *.y.a.org"},
		{"*.a.org:8443", "*.a.org", ""},
		{"*.a.org:80", "*.a.org", "*.a.org:80"},
		{"a.org", "*.org:443", "a.org:443"},
		{"a.org:22", "a.org:22 a.org:23", "a.org:22"},
		{"10.0.0.1", "10.0.0.1:443 10.0.0.2", "10.0.0.1:443"},
		{"a.org", "", ""},
	} {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			one, err := ParseList(strings.Fields(c[order[0]]))
			if err != nil {
				t.Fatal(err)
			}
			other, err := ParseList(strings.Fields(c[order[1]]))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range one.Narrow(other) {
				got = append(got, e.String())
			}
			if strings.Join(got, " ") != c[2] {
				t.Errorf("%q and %q: %q, want %q", c[order[0]], c[order[1]], got, c[2])
			}
		}
	}
}

// An entry is the same when it is read again, and what both lists open, each of them opens.
func FuzzHosts(f *testing.F) {
	for _, seed := range [][3]string{{"*.a.org:443", "x.a.org", "x.a.org:443"}, {"10.0.0.1", "[::1]:80", "10.0.0.1:80"}, {"*.org", "*.a.org:80", "b.a.org:80"}, {"a", "A", "a:80"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, one, other, wanted string) {
		a, err := ParseEntry(one)
		if err != nil {
			return
		}
		if again, err := ParseEntry(a.String()); err != nil || again != a {
			t.Errorf("%q is %s, and again %s, %v", one, a, again, err)
		}
		b, err := ParseEntry(other)
		if err != nil {
			return
		}
		target, err := ParseTarget(wanted)
		if err != nil {
			return
		}
		want := List{a}.Opens(target) && List{b}.Opens(target)
		if got := (List{a}).Narrow(List{b}).Opens(target); got != want {
			t.Errorf("%s and %s open %s: %v, want %v", a, b, target, got, want)
		}
	})
}
