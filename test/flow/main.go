// Command flow measures the effect of [flow] level = "ask" without a model: which calls it stops,
// and about which calls it asks. It replays traces of an agent's calls, and of calls that an
// attacker wants, through the proxy in front of a server that plays the tools (docs/flow.md).
//
//	go run ./test/flow [-model] [TRACES.json ...]
//
// With -model the calls come as replies of a scripted model, through the proxy for the model's API
// (docs/llm-proxy.md). The results are in the agent's next requests.
//
// Without arguments it replays our own traces. agentdojo.py and tau2.py write
// others.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/clawai/clawai/test/flow/score"
)

func main() {
	var by score.Way
	flag.BoolVar(&by.Model, "model", false, "replay through the model's own channel")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"test/flow/testdata/traces.json"}
	}
	all, err := score.Load(files...)
	if err == nil {
		var r *score.Result
		if r, err = score.Of(all, "test/flow/testdata/policy.toml", by); err == nil {
			fmt.Fprint(os.Stdout, r)
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
