// Package score replays traces of an agent's calls. It counts the calls that [flow] level = "ask"
// stops, and the calls about which it asks a person. It compares these numbers with the numbers of
// other rules.
package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Suite has the traces of one server. The policy describes the tools of this server.
type Suite struct {
	Suite  string `json:"suite"` // name of the server
	User   []task `json:"user"`
	Attack []task `json:"attack"`
}

// task is a goal, and the calls with which the agent reaches it.
type task struct {
	ID    string `json:"id"`
	Said  string `json:"said"` // text of the user, or text of the attacker in a result
	Calls []call `json:"calls"`
}

type call struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result string          `json:"result"`
	Hole   bool            `json:"hole"` // someone other than the user could have written a part of the result
}

// Load reads the traces in these files.
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
