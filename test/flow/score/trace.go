// Package score replays traces of an agent's calls and counts what [flow] level
// = "ask" asks and stops, compared with other ways of asking.
package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Suite holds the traces of one server. The policy beside the traces describes
// the server's tools.
type Suite struct {
	Suite  string `json:"suite"` // the server's name
	User   []task `json:"user"`
	Attack []task `json:"attack"`
}

// task is a goal and the calls that reach it.
type task struct {
	ID    string `json:"id"`
	Said  string `json:"said"` // by the user, or by the attacker in a result
	Calls []call `json:"calls"`
}

type call struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result string          `json:"result"`
	Hole   bool            `json:"hole"` // others could have written into the result
}

// Load reads traces.
func Load(files ...string) (all []Suite, err error) {
	for _, name := range files {
		var some []Suite
		text, err := os.ReadFile(name) //nolint:gosec // the file is an argument of the command
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
