// Package rulemix generates random policies, and calls on which these policies decide differently.
// Tests use them to check that a change of a policy never allows a call that a rule denies.
package rulemix

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Home is the home folder of the policies and the calls.
const Home = "/home/user"

// WritePolicy returns the text of a random policy.
func WritePolicy(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(7) {
		b.WriteString("[[rule]]\naction = \"" + pick(r, "allow", "allow", "allow", "prompt", "prompt", "deny") + "\"\n")
		b.WriteString("tool = " + pick(r, `"read_*"`, `"read_file"`, `"write_file"`, `"*_file"`, `["read_file", "list_folder"]`, `"*"`) + "\n")
		if r.IntN(2) == 0 {
			b.WriteString("server = " + pick(r, `"files"`, `["files", "git"]`, `"g*"`) + "\n")
		}
		if r.IntN(4) > 0 {
			b.WriteString("args.path = " + pick(r, `"~/projects/**"`, `["~/projects", "~/projects/**"]`, `"~/projects/a/**"`, `"~/other/**"`, `"**/.env"`, `"~/**"`, `["**/*.key", "**/.git/**"]`, `"/srv/**"`) + "\n")
		}
		if r.IntN(6) == 0 {
			b.WriteString("not.args.path = \"**/secret/**\"\n")
		}
		fmt.Fprintf(&b, "description = \"rule %d\"\n\n", r.IntN(100))
	}
	if r.IntN(3) > 0 {
		b.WriteString("[[rule]]\naction = \"deny\"\ntool = \"*\"\ndescription = \"Everything else\"\n")
	}
	return b.String()
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// ListCalls returns calls of all kinds on which these policies may decide differently.
func ListCalls() (all []policy.Call) {
	for _, server := range []string{"files", "git", "web", ""} {
		for _, tool := range []string{"read_file", "read_text", "write_file", "list_folder", "remove"} {
			for _, path := range []string{
				"~/projects/x", "/home/user/projects/a/y", "~/other/x", "~/data/x", "/home/user/data/.env", "~/data/.git/hooks/pre-commit",
				"~/data/a.key", "~/data/secret/x", "~/data", "/srv/x", "~/.bashrc", "/home/user/data/../.ssh/id_rsa", "x", "",
			} {
				args := `{"path":"` + path + `"}`
				if path == "" {
					args = `{}`
				}
				all = append(all, policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(args), Screened: true})
			}
		}
	}
	return all
}
