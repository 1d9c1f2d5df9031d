package disk_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// TestInAPolicy holds that the same paths get the same answers through the
// readings of a policy, from a rule that opens and from one that denies.
func TestInAPolicy(t *testing.T) {
	root := house(t)
	home := filepath.Join(root, "home/u")
	decide := func(rules, path string) policy.Action {
		p, err := policy.Parse("under.toml", []byte(rules), policy.Options{Home: home, Disk: disk.SystemDisk()})
		if err != nil {
			t.Fatal(err)
		}
		arguments, _ := json.Marshal(map[string]string{"path": strings.ReplaceAll(path, "/R", root)})
		return p.Decide(&policy.Call{Subject: policy.ToolSubject, Method: "tools/call", Names: []string{"read"}, Args: arguments}).Action
	}
	const opens = "[[rule]]\naction = \"allow\"\ntool = \"read\"\nwhere.path = { under = [\"~/projects\"] }\n"
	const closes = "[[rule]]\naction = \"deny\"\ntool = \"read\"\nwhere.path = { under = [\"~/projects\"] }\n[[rule]]\naction = \"allow\"\ntool = \"read\"\n"
	for _, path := range evasions {
		if path == "file:///R/home/u/projects/x" {
			continue // the readings are its path
		}
		if decide(opens, path) == policy.Allow {
			t.Errorf("%q is allowed", path)
		}
	}
	// To a server that decodes, takes backslashes for slashes, resolves dot-dot
	// before ~ or reads a host these lead elsewhere.
	elsewhere := []string{"~/../u/projects/x", "~/projects/%2e%2e/x", `~/projects/..\..\x`, "file://h/R/home/u/projects/x"}
	for _, path := range slices.Concat(benign, []string{"file:///R/home/u/projects/x"}, elsewhere) {
		if allowed := decide(opens, path) == policy.Allow; allowed == slices.Contains(elsewhere, path) {
			t.Errorf("%q is allowed: %v", path, allowed)
		}
		if decide(closes, path) != policy.Deny {
			t.Errorf("%q is not denied", path)
		}
	}
}
