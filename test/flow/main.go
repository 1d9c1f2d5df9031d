// Command flow scores what [flow] level = "ask" stops and what it asks, without a model:
// it replays traces of what an agent did, and of what an attacker would have it do,
// through the proxy in front of a server that plays the tools (docs/flow.md).
//
//	go run ./test/flow [TRACES.json ...]
//
// Without traces those of our own writing are replayed; agentdojo.py and tau2.py write others.
package main

import (
	"fmt"
	"os"

	"github.com/clawai/clawai/test/flow/score"
)

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		files = []string{"test/flow/testdata/traces.json"}
	}
	all, err := score.Load(files...)
	if err == nil {
		var r *score.Result
		if r, err = score.Of(all, "test/flow/testdata/policy.toml"); err == nil {
			fmt.Fprint(os.Stdout, r)
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
