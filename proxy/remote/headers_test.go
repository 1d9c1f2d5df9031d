package remote_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
)

func TestParseHeaders(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"KEY": "k${EY}", "NASTY": "a\r\nX: b"}[name]
		return v, ok
	}
	h, err := remote.ParseHeaders("# mine\n\nauthorization: Bearer ${KEY}\nX-A:1\r\nX-A: 2\n", env)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"Authorization": {"Bearer k${EY}"}, "X-A": {"1", "2"}}; !reflect.DeepEqual(map[string][]string(h), want) {
		t.Errorf("%v", h)
	}
	for _, bad := range []string{
		"secret", ": secret", "A B: secret", "Host: secret", "mcp-session-id: secret", "Mcp-Param-X: secret", "content-length: 5",
		"X: ${secret", "X: ${NONE}", "X: ${NASTY}", "X: a\x00secret", "X: a\x7fsecret",
	} {
		_, err := remote.ParseHeaders("\n"+bad, env)
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", bad, err)
		} else if strings.Contains(err.Error(), "a\x00") || strings.Contains(err.Error(), "a\r") {
			t.Errorf("%q: a value in the error: %v", bad, err)
		}
	}
}
