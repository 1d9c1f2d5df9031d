package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

const reasonTrust = "what is said of servers and of a session, which no single call shows: "

// compareTrust adds an undecided class if the tables about the trust in servers, or the flow
// levels, differ.
func (d *difference) compareTrust() {
	old, after := trustTexts(d.before), trustTexts(d.after)
	var texts []string
	for _, side := range []struct {
		word     string
		all, not []string
	}{{"was", old, after}, {"is", after, old}} {
		for _, text := range side.all {
			if !slices.Contains(side.not, text) {
				texts = append(texts, side.word+" "+text)
			}
		}
	}
	if len(texts) > 0 {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonTrust + strings.Join(texts, ", ")})
	}
}

// trustTexts returns the flow level, and the tables about trust in their order. The order matters,
// because the first table that matches a tool decides.
func trustTexts(p *policy.Policy) (texts []string) {
	if p.LocalFlowLevel() != policy.Off {
		texts = append(texts, fmt.Sprintf("[flow] level %s", p.LocalFlowLevel()))
	}
	for i, t := range p.TrustTables() {
		texts = append(texts, fmt.Sprintf("%s (table %d)", t.String(), i+1))
	}
	for i, t := range p.CageTables() {
		texts = append(texts, fmt.Sprintf("%s (cage %d)", t.String(), i+1))
	}
	return texts
}
