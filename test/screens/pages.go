package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// tally counts what a profile does with the pages.
type tally struct {
	withheld, asked, altered int
	// number of pages that were withheld or asked about, by the kind of finding
	by map[string]int
}

// reportPages prints what each reply profile does with the texts in a folder. It checks each text
// as if it were the answer of a tool.
func reportPages(out io.Writer, dir string) error {
	pages, err := texts(dir)
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("%s: no pages", dir)
	}
	fmt.Fprintf(out, "%-10s %6s  %10s  %10s  %10s  by kind, pages\n", "profile", "pages", "withheld %", "asked %", "altered %")
	for _, tier := range fixtures.ListTiers() {
		src, err := fixtures.ComposePolicy(tier.Name)
		if err != nil {
			return err
		}
		p, err := policy.Parse("policy.toml", src, policy.Options{})
		if err != nil {
			return err
		}
		t := tally{by: map[string]int{}}
		for _, page := range pages {
			t.add(p, page)
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(len(pages)) }
		fmt.Fprintf(out, "%-10s %6d  %10.1f  %10.1f  %10.1f  %s\n", tier.Name, len(pages), share(t.withheld), share(t.asked), share(t.altered), t.kinds())
	}
	return nil
}

// add checks a page as if it were the answer of a tool, and counts the result.
func (t *tally) add(p *policy.Policy, page string) {
	text, _ := json.Marshal(strings.ToValidUTF8(page, "\ufffd")) // cannot fail for a string
	fx := check.Fixture{Method: "tools/call", Params: []byte(`{"name":"fetch"}`), Result: fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, text)}
	r := check.JudgeFixture(p, fx, "")
	switch {
	case r.Action == policy.Deny:
		t.withheld++
	case r.Action == policy.Prompt:
		t.asked++
	case len(r.Alters) > 0:
		t.altered++
	}
	if r.Action > policy.Prompt {
		return
	}
	calls := []policy.Call{{Subject: policy.ToolSubject, Names: []string{"fetch"}, Method: "tools/call"}}
	for _, kind := range r.Finds {
		if d := p.DecideReply(policy.OnReply, calls, []string{kind}); d.Action <= policy.Prompt {
			t.by[kind]++
		}
	}
}

// kinds lists the kinds of findings in pages that were withheld or asked about, the most frequent
// first.
func (t *tally) kinds() string {
	var all []string
	for kind := range t.by {
		all = append(all, kind)
	}
	slices.SortFunc(all, func(a, b string) int { return t.by[b]*1000 - t.by[a]*1000 + strings.Compare(a, b) })
	for i, kind := range all {
		all[i] = fmt.Sprintf("%s %d", kind, t.by[kind])
	}
	return strings.Join(all, ", ")
}
