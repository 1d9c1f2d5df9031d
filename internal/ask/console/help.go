package console

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
)

// help lists every key with its function. alone means that the key also works where only one
// request is shown.
var help = []struct {
	keys, does string
	alone      bool
}{
	{"a", "allow this call, once", true},
	{"s", "allow until the session ends: this call, or calls like it", true},
	{"d", "deny this call", true},
	{"A  D", "allow or deny always: shows the rule, writes it when you confirm", true},
	{"n", "write a note for the agent, sent with your answer", true},
	{"Space", "mark requests; a and d then answer all that are marked", false},
	{"↑ ↓  k j", "go to another request", false},
	{"PgUp PgDn", "scroll the request; Home and End go to its ends", true},
	{"w", "show very long values without a gap", true},
	{"/", "show only what holds a text; Esc shows all again", false},
	{"Tab  1 2 3 4", "go to what waits, the history, the session answers, the calls", false},
	{"r", "take a session answer back", false},
	{"q", "leave; what waits goes on waiting", true},
}

// startHelp shows the keys until a key is pressed.
func (m *model) startHelp() {
	lines := []string{"What the keys do", ""}
	for _, row := range help {
		if row.alone || m.o.Only == "" {
			lines = append(lines, fmt.Sprintf("  %-12s %s", row.keys, row.does))
		}
	}
	m.openQuestion(&question{Question: dialog.Question{Page: dialog.Page{
		Facts:    func(width int) ([]string, int) { return view.Wrap(lines, width), 0 },
		Headed:   true,
		Decision: "Nothing is answered while this is open.",
		Choices:  []dialog.Choice{{Word: dialog.No, Label: "Go back", Brief: "go back"}},
	}}})
}
