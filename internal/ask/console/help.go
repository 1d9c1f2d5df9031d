package console

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
)

// help lists every key with its function.
var help = []struct {
	keys, does string
	on         pages
}{
	{"a", "allow this call, once", onWaiting | onOne},
	{"s", "allow until the session ends: this call, or calls like it", onWaiting | onOne | lasting},
	{"d", "deny this call", onWaiting | onOne},
	{"A  D", "allow or deny always: shows the rule, writes it when you confirm", onWaiting | onOne | lasting},
	{"n", "write a note for the agent, sent with your answer", onWaiting | onOne},
	{"Space", "mark requests; a and d then answer all that are marked", onWaiting},
	{"w", "show very long values without a gap", onWaiting | onHistory | onOne},
	{"r", "take a session answer back", onAnswers},
	{"Return", "tell why the call was decided as it was, and what was called around it", onCalls},
	{"o", "open a call that was refused or asked about: shows the rule, writes it when you confirm", onCalls},
	{"↑ ↓  k j", "go to another row", onLists},
	{"PgUp PgDn", "scroll what is below the rows; Home and End go to its ends", onLists | onOne},
	{"/", "show only what holds a text; Esc shows all again", onLists &^ onAnswers},
	{tabKeys, "go to another page", onLists},
	{"q", "leave; what waits goes on waiting", onLists | onOne},
}

// tabKeys are the keys that show another page. The help adds the digits of the pages.
const tabKeys = "Tab"

// pages is a set of pages on which a key works.
type pages uint8

const (
	onWaiting pages = 1 << iota
	onHistory
	onAnswers
	onCalls
	onOthers
	onOne   // the console shows only one request (Options.Only)
	lasting // not a page: marks a key that Options.OnceOnly removes

	onLists = onWaiting | onHistory | onAnswers | onCalls | onOthers
)

// currentPage returns the page that is shown.
func (m *model) currentPage() pages {
	switch {
	case m.o.Only != "":
		return onOne
	case m.tab > callsTab:
		return onOthers
	}
	return onWaiting << m.tab
}

// startHelp shows the help until the person presses a key.
func (m *model) startHelp() {
	lines := []string{"What the keys do on this page", ""}
	for _, row := range help {
		if row.on&m.currentPage() == 0 || row.on&lasting != 0 && m.o.OnceOnly {
			continue
		}
		if row.keys == tabKeys {
			row.keys += " " + " 1 2 3 4 5 6"[:2*len(m.tabNames(0))]
		}
		lines = append(lines, fmt.Sprintf("  %-12s %s", row.keys, row.does))
	}
	m.openQuestion(&question{Question: dialog.Question{Page: dialog.Page{
		Facts:    func(width int) ([]string, int) { return view.Wrap(lines, width), 0 },
		Headed:   true,
		Decision: "Nothing is answered while this is open.",
		Choices:  []dialog.Choice{{Word: dialog.No, Label: "Go back", Brief: "go back"}},
	}}})
}
