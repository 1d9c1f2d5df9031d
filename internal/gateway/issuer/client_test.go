package issuer

import (
	"encoding/json"
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
