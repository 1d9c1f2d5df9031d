package issuer

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Keys that are for something else than signatures, or are secrets, verify nothing.
func TestKeepSigningKeys(t *testing.T) {
	src := `{"keys":[{"kid":"a","kty":"RSA"},{"kid":"b","kty":"RSA","use":"sig"},{"kid":"c","kty":"EC","key_ops":["sign","verify"]},
		{"kid":"d","kty":"RSA","use":"enc"},{"kid":"e","kty":"oct"},{"kid":"f","kty":"EC","key_ops":["deriveKey"]},{"kid":"g","kty":"EC","key_ops":[]}]}`
	got, err := keepSigningKeys([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Keys []struct{ Kid string } }
	if err := json.Unmarshal(got, &set); err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, k := range set.Keys {
		names += k.Kid
	}
	if names != "abc" {
		t.Errorf("%q of %s", names, got)
	}
	for _, src := range []string{"", "[]", `{"keys":7}`, `{"keys":[7]}`, "<html>"} {
		if got, err := keepSigningKeys([]byte(src)); err == nil {
			t.Errorf("%q: %s", src, got)
		}
	}
}

// Of claims that two readers could read in two ways, none is read.
func TestReadClaims(t *testing.T) {
	for src, ok := range map[string]bool{
		`{"iss":"a","sub":"b","list":[{"x":1},{"x":1}]}`: true,
		`{"repository":"evil","repository":"team"}`:      false,
		`{"repository":"evil","\u0072epository":"team"}`: false,
		`{"more":{"a":1,"a":1}}`:                         false,
		"{\"ref\":\"\xff\"}":                             false,
		`{"iss":"a"} {}`:                                 false,
		`[]`:                                             false,
	} {
		if said, err := readClaims([]byte(src)); (err == nil) != ok {
			t.Errorf("%s: %v, %v", src, said, err)
		}
	}
}

// What an issuer answers writes no lines of a log, and does not fill it.
func TestShortenError(t *testing.T) {
	got := shortenError(errors.New("500: \x1b[31mred\r\n2026 forged\u0085line " + strings.Repeat("é", 1<<20))).Error()
	if strings.ContainsAny(got, "\r\n\x1b\u0085") || len(got) > maxSaid+len("…") || !strings.HasPrefix(got, "500: [31mred 2026 forged line é") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
}
