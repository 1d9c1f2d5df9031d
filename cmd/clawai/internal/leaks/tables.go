package leaks

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// RenderTables returns the known facts about a server as tables for a policy. For known tools, the
// tables have only one effect: clawai does not ask about a call that goes where the user said.
func RenderTables(name string, known *flow.Known) string {
	tools := known.ListTools()
	if len(tools) == 0 || name == "" || strings.ContainsAny(name, "*?") { // a policy cannot name such a server
		return ""
	}
	var b strings.Builder
	whole := tools[0].Traits
	for _, t := range tools {
		whole.PublicSource = max(whole.PublicSource, t.Traits.PublicSource)
		whole.SecretData = min(whole.SecretData, t.Traits.SecretData)
	}
	fmt.Fprintf(&b, "# As clawai read it in %s.\n[%s]\n", strings.Replace(known.Version(), "docs", "the documentation", 1), policytext.DottedKey("server", name))
	if whole.PublicSource == policy.Yes {
		b.WriteString("public_source = true\n")
	}
	switch whole.SecretData {
	case policy.Private:
		b.WriteString("secret_data = \"private\"\n")
	case policy.Yes:
		b.WriteString("secret_data = true\n")
	case policy.Unsaid, policy.No, policy.Forbidden:
	}
	for _, t := range tools {
		var says []string
		if t.Traits.PublicSource < whole.PublicSource {
			says = append(says, "public_source = false")
		}
		if t.Traits.SecretData > whole.SecretData {
			says = append(says, "secret_data = true")
		}
		if t.Decides != nil {
			says = append(says, "decides = "+policytext.FormatList(policytext.QuoteAll(t.Decides)))
		}
		if says != nil {
			fmt.Fprintf(&b, "[%s]\n%s\n", policytext.DottedKey("server", name, "tool", t.Name), strings.Join(says, "\n"))
		}
	}
	return b.String() + "\n"
}
