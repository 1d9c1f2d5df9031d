package proxy_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A call whose answer stands where no client reads it fails at once, and does not wait for its
// client to give up.
func TestAnswersWhereNobodyReadsThem(t *testing.T) {
	failed := `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}`
	for name, line := range map[string]string{
		"an array in an array":       "[[" + answer("2") + "]]",
		"an error in it":             "[[" + failed + "]]",
		"three deep":                 "[[[" + answer("2") + "]]]",
		"a mark before an array":     "\uFEFF[[" + answer("2") + "]]",
		"no method beside a result":  strings.Replace(answer("2"), `"id"`, `"method":null,"id"`, 1),
		"no method beside an error":  strings.Replace(failed, `"id"`, `"method":null,"id"`, 1),
		"that in an array":           "[" + strings.Replace(answer("2"), `"id"`, `"method":null,"id"`, 1) + "]",
		"beside an answer to nobody": "[[" + answer("2") + "]," + answer("99") + "]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, []string{">" + tool("2", "ok"), "<" + line, `="id":2,"error"`}) })
		})
	}
	synctest.Test(t, func(t *testing.T) {
		play(t, []string{">" + tool("2", "ok"), "<\uFEFF[" + answer("2") + "]", "=" + answer("2")})
	})
}
