package mcp_test

import (
	"testing"

	"github.com/clawai/clawai/internal/mcp"
)

func TestAgreeVersion(t *testing.T) {
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", mcp.BatchVersion: mcp.BatchVersion, mcp.ModernVersion: "2025-11-25", "": "2025-11-25"} {
		if got := mcp.AgreeVersion(asked); got != want {
			t.Errorf("a client that asks for %q gets %q, want %q", asked, got, want)
		}
	}
}

func TestProgressToken(t *testing.T) {
	for params, want := range map[string]string{
		`{"_meta":{"progressToken":"t"}}`:  `"t"`,
		`{"_meta":{"progressToken":7}}`:    `7`,
		`{"_meta":{"progressToken":null}}`: "",
		`{"progressToken":7}`:              "",
		``:                                 "",
	} {
		if got := string(mcp.ProgressToken([]byte(params))); got != want {
			t.Errorf("%s has the token %q, want %q", params, got, want)
		}
	}
}
