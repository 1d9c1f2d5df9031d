// Command flow scores what [flow] level = "ask" stops and what it asks, without a model:
// it replays traces of what an agent did, and of what an attacker would have it do,
// through the proxy in front of a server that plays the tools (docs/flow.md).
//
//	go run ./test/flow [TRACES.json ...]
//
// Without traces those of our own writing are replayed; agentdojo.py and tau2.py write others.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// suite are the traces of one server. The policy beside the traces says what it does.
type suite struct {
	Suite  string `json:"suite"` // the server's name
	User   []task `json:"user"`
	Attack []task `json:"attack"`
}

// task is what somebody wants, and the calls that do it.
type task struct {
	ID    string `json:"id"`
	Said  string `json:"said"` // by the user; or by the attacker, in a result
	Calls []call `json:"calls"`
}

type call struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result string          `json:"result"`
	Hole   bool            `json:"hole"` // others could have written into the result
}

func load(files ...string) (all []suite, err error) {
	for _, name := range files {
		var some []suite
		text, err := os.ReadFile(name) //nolint:gosec // named by whoever starts this
		if err == nil {
			err = json.Unmarshal(text, &some)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, errors.New("no traces")
	}
	return all, nil
}

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		files = []string{"test/flow/testdata/traces.json"}
	}
	all, err := load(files...)
	if err == nil {
		var r *result
		if r, err = score(all, "test/flow/testdata/policy.toml"); err == nil {
			fmt.Fprint(os.Stdout, r)
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
