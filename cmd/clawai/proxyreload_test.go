//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// A layer that loses rules under a running proxy goes on holding, until its owner
// says that this is meant; a policy with an end mark is believed when it is whole.
func TestReloadsOpenNothingUnasked(t *testing.T) {
	slow.Test(t)
	r := prepare(t)
	const shut = "[[rule]]\naction = \"deny\"\ntool = \"secret\"\n"
	r.write("layer.toml", shut)
	r.write("policy.toml", shut+allowTools+"# end\n")
	at := slices.Index(r.cmd.Args, "--")
	r.cmd.Args = slices.Insert(r.cmd.Args, at, "--layer", r.path("layer.toml"))
	r.start()
	n := 0
	call := func(tool, want string) {
		t.Helper()
		n++
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`+"\n", n, tool)
		if got := r.next(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	const denied, allowed = `"decision":"deny"`, `"result":{"content":[]}`
	call("secret", denied)
	call("other", allowed)

	r.write("policy.toml", allowTools) // half of what is to come
	r.recorded(event.Policy, "policy_kept")
	r.write("layer.toml", "")
	r.write("policy.toml", "# A comment.\n"+allowTools+"# end\n")
	r.recorded(event.Policy, "layer_kept")
	call("secret", denied) // by the layer alone
	call("other", allowed)

	were := r.times(event.Policy, "policy_loaded")
	trust(t, r, r.path("layer.toml"))
	r.recordedAfter(were, event.Policy, "policy_loaded")
	call("secret", allowed)
	if err := r.in.Close(); err != nil {
		t.Error(err)
	}
	r.code(patience)
	r.quiet()
}

func trust(t *testing.T, r *running, path string) {
	t.Helper()
	t.Setenv("CLAWAI_STATE_DIR", r.path("state"))
	if code, out, errs := clawai(t, "policy", "trust", path); code != 2 || !strings.Contains(errs, "there is no terminal to ask at") {
		t.Errorf("policy trust: %d %s %s", code, out, errs)
	}
	if code, out, errs := clawai(t, "policy", "trust", "--yes", path); code != 0 {
		t.Errorf("policy trust: %d %s %s", code, out, errs)
	}
}
