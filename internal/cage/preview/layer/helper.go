package layer

import "github.com/clawai/clawai/internal/cage/confine"

// RunHelper is the main function of clawai-sandbox. If the first word is Word, it runs a command for a
// preview; otherwise it builds a cage and becomes a server.
func RunHelper(name string, words []string) int {
	if len(words) > 0 && words[0] == Word {
		return Run(name, words[1:])
	}
	return confine.Run(name, words)
}
