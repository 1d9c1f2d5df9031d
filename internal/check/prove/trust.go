package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

const reasonTrust = "what is said of servers and of a session, which no single call shows: "

// compareTrust records that the tables about servers, or the flow level,
// differ.
func (d *difference) compareTrust() {
	old, after := trustTexts(d.before), trustTexts(d.after)
	var texts []string
	for _, of := range []struct {
		word     string
		all, not []string
	}{{"was", old, after}, {"is", after, old}} {
		for _, text := range of.all {
			if !slices.Contains(of.not, text) {
				texts = append(texts, of.word+" "+text)
			}
		}
	}
	if len(texts) > 0 {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonTrust + strings.Join(texts, ", ")})
	}
}

// trustTexts returns the flow level and the tables in order. The order counts:
// the first table that matches a tool decides.
func trustTexts(p *policy.Policy) (texts []string) {
	if p.LocalFlowLevel() != policy.Off {
		texts = append(texts, fmt.Sprintf("[flow] level %s", p.LocalFlowLevel()))
	}
	for i, t := range p.TrustTables() {
		texts = append(texts, fmt.Sprintf("%s (table %d)", t.String(), i+1))
	}
	return texts
}
