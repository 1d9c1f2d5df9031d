// Command flow measures, without a model, what [flow] level = "ask" stops and
// asks. It replays traces of an agent's calls, and of calls that an attacker
// wants, through the proxy in front of a server that plays the tools
// (docs/flow.md).
//
//	go run ./test/flow [TRACES.json ...]
//
// Without arguments it replays our own traces. agentdojo.py and tau2.py write
// others.
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
