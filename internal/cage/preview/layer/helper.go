package layer

import "github.com/clawai/clawai/internal/cage/confine"

// RunHelper is the helper of cages: it runs a command for a preview if Word says so, and else
// becomes a server.
func RunHelper(name string, words []string) int {
	if len(words) > 0 && words[0] == Word {
		return Run(name, words[1:])
	}
	return confine.Run(name, words)
}
