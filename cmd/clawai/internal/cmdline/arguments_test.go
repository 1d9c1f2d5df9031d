package cmdline_test

import (
	"errors"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

func TestUnknownWord(t *testing.T) {
	words := []string{"observe", "ask", "strict"}
	for word, want := range map[string]string{
		"strikt":  `--mode: unknown mode "strikt" (did you mean strict?); one of observe, ask, strict`,
		"lenient": `--mode: unknown mode "lenient"; one of observe, ask, strict`,
		"a\x1b[m": `--mode: unknown mode "a\x1b[m"; one of observe, ask, strict`,
		"":        `--mode: unknown mode ""; one of observe, ask, strict`,
	} {
		err := cmdline.UnknownWord("--mode", "mode", word, words)
		var exit *cmdline.ExitError
		if !errors.As(err, &exit) || exit.Code != cmdline.ExitUsage || err.Error() != want {
			t.Errorf("%q: %v", word, err)
		}
	}
}
