package leaks

import (
	"fmt"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/policy"
)

// shown is how many ways are told of; --json has all.
const shown = 5

// Advice is one thing that doctor has to say of the ways out.
type Advice struct {
	Text  string
	Fix   string // what to do; "" where all is well
	Leaks []Leak
}

// Advise says what becomes of the ways at a level, and what of the servers of which nothing is known,
// or which have no table yet. Bare: a server on the ways has no proxy before it.
func Advise(ways []Leak, bare bool, level policy.Level, unknown, open []string) (all []Advice) {
	text := cmdline.CountText(len(ways), "1 way", "%d ways") + " in which a stranger's text could carry out what is yours"
	switch {
	case len(ways) == 0:
		all = []Advice{{Text: "no servers of a client that are known make a way out together"}}
	case level >= policy.Ask && !bare:
		all = []Advice{{Text: fmt.Sprintf("%s, each asked about or refused ([flow] level = %q)", text, level), Leaks: ways}}
	default:
		fix := `write [flow] level = "ask" into the policy: the last call is asked about (docs/flow.md)`
		if bare {
			fix += ", behind clawai wrap"
		}
		if len(open) > 0 {
			fix += "; tables to begin with: clawai doctor --tables"
		}
		all = []Advice{{Text: text, Fix: fix, Leaks: ways}}
	}
	if len(unknown) > 0 && level != policy.Off {
		all = append(all, Advice{
			Text: cmdline.CountText(len(unknown), "of 1 server nothing is known", "of %d servers nothing is known") + ", so everything is taken for granted: " + cmdline.JoinNames(unknown),
			Fix:  "say in [server.NAME] tables what they do (docs/flow.md)",
		})
	}
	return all
}

// RenderLines gives the first of the ways, for people.
func RenderLines(ways []Leak) (all []string) {
	for i, l := range ways {
		if i == shown {
			return append(all, fmt.Sprintf("and %d more: clawai doctor --json", len(ways)-shown))
		}
		all = append(all, l.String())
	}
	return all
}
