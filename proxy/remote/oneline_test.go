package remote_test

import (
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote"
)

// A body is one line without its line breaks, where JSON may have them. One that is not JSON for
// a break in a string does not become a message that nobody has written.
func TestOneLine(t *testing.T) {
	for body, want := range map[string]string{
		"\r\n{\"jsonrpc\":\"2.0\",\r\n\"method\":\n\"a\"}\n":                           `{"jsonrpc":"2.0",  "method": "a"}`,
		"{\"jsonrpc\":\"2.0\",\n\"method\":\"a\\\\\",\n\"params\":{\"b\":\"\\\"\"}\n}": `{"jsonrpc":"2.0", "method":"a\\", "params":{"b":"\""} }`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":\"c\nd\"}}":           "",
		"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":\"c\rd\"}}":           "",
		"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":\"c\\\\\nd\"}}":       "",
		"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":\"\\\"\n\"}}":         "",
		"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"b\":\"c\\\nd\"}}":         "",
	} {
		line := remote.OneLine([]byte(body))
		_, err := frame.Parse(line, frame.DefaultLimits())
		if got := string(line); want != "" && (got != want || err != nil) || want == "" && err == nil {
			t.Errorf("%q became %q: %v", body, got, err)
		}
	}
}
