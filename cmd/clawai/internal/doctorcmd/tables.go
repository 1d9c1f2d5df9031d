package doctorcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/flow"
	"github.com/clawai/clawai/internal/policytext"
	"github.com/clawai/clawai/policy"
)

// printTables writes a proposal for each server that is known and has no table yet. A
// name that is another server elsewhere has none: a table sees only the name.
func printTables(w io.Writer, p *machine) error {
	if p.foldersErr != nil {
		return p.foldersErr
	}
	var trusts []policy.TrustTable
	loaded, err := config.LoadPolicyFor(p.folders.PolicyFile(), policyfile.Options(p.folders.Home))
	switch {
	case err == nil:
		trusts = loaded.Policy.Trusts()
	case !errors.Is(err, fs.ErrNotExist): // without a policy there is no table yet
		return err
	}
	f, err := wrapcmd.Find()
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, all := range f.ByClient() {
		for _, s := range all {
			if slices.ContainsFunc(trusts, func(t policy.TrustTable) bool { return t.Server == s.Name }) {
				continue
			}
			text := tables(s.Name, s.Known)
			if before, seen := texts[s.Name]; seen && before != text {
				text = ""
			}
			texts[s.Name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, err := io.WriteString(w, texts[name]); err != nil {
			return err
		}
	}
	return nil
}

// tables is what is known of a server as a policy says it: of the tools that are known it changes
// nothing but that calls which go where the user said need not be asked about.
func tables(name string, known *flow.Known) string {
	tools := known.Tools()
	if len(tools) == 0 || name == "" || strings.ContainsAny(name, "*?") { // no policy can name it
		return ""
	}
	var b strings.Builder
	whole := tools[0].Traits
	for _, t := range tools {
		whole.PublicSource = max(whole.PublicSource, t.Traits.PublicSource)
		whole.SecretData = min(whole.SecretData, t.Traits.SecretData)
	}
	fmt.Fprintf(&b, "# As clawai read it in %s.\n[%s]\n", strings.Replace(known.Version(), "docs", "the documentation", 1), policytext.Key("server", name))
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
			says = append(says, "decides = "+policytext.List(policytext.QuoteAll(t.Decides)))
		}
		if says != nil {
			fmt.Fprintf(&b, "[%s]\n%s\n", policytext.Key("server", name, "tool", t.Name), strings.Join(says, "\n"))
		}
	}
	return b.String() + "\n"
}
