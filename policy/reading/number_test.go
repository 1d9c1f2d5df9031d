package reading

import (
	"strings"
	"testing"
)

func TestPlainNumber(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.0", "0"}, {"100", "100"}, {"1e2", "100"}, {"1E+2", "100"}, {"1.5e1", "15"}, {"1.25e1", "12.5"},
		{"-1e2", "-100"}, {"100e-2", "1"}, {"1e-3", "0.001"}, {"-2.50", "-2.5"}, {"0.5e1", "5"}, {"1e400", "1" + strings.Repeat("0", 400)},
		{"1e401", "1e401"}, {"1e-99999999999999999999", "1e-99999999999999999999"}, {"9007199254740993", "9007199254740993"},
	} {
		if got := PlainNumber(c.json); got != c.want {
			t.Errorf("%s: %.20s, want %.20s", c.json, got, c.want)
		}
	}
}
