package leaks

import (
	"fmt"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/policy"
)

// shown is the maximum number of leaks that are printed. --json prints all.
const shown = 5

// Advice is one message of clawai doctor about leaks.
type Advice struct {
	Text  string
	Fix   string // what to do; "" if nothing is wrong
	Leaks []Leak
}

// Advise returns the messages about leaks. The parameter ways has the leaks. If the parameter bare
// is true, a server in one of the leaks runs without the proxy. The parameter level is the flow
// level of the policy. The parameter unknown lists the servers whose behaviour is not known, and
// the parameter open lists the known servers without a table in the policy.
func Advise(ways []Leak, bare bool, level policy.Level, unknown, open []string) (all []Advice) {
	text := cmdline.CountText(len(ways), "1 way", "%d ways") + " in which a stranger's text could make the agent send out your private data"
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

// RenderLines returns one line for each of the first leaks, for a person.
func RenderLines(ways []Leak) (all []string) {
	for i, l := range ways {
		if i == shown {
			return append(all, fmt.Sprintf("and %d more: clawai doctor --json", len(ways)-shown))
		}
		all = append(all, l.String())
	}
	return all
}
