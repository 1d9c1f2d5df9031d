package wrapcmd

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/demo"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/text/term"
)

// askDoc says how a question reaches the person.
type askDoc struct {
	Order   []string `json:"order"`   // the ways to ask, in the order of the settings
	Open    []string `json:"open"`    // the ways that work from here now
	Waits   string   `json:"waits"`   // the time that a call waits for an answer
	Command string   `json:"command"` // the command with which the person answers all questions
}

// readAskSettings reads the settings of questions, and finds the ways to ask that work from here.
// It does not count our terminal, because a client may start the proxy in another place.
func (r *initRun) readAskSettings() (askDoc, error) {
	ask, err := session.LoadAsk(r.folders)
	if err != nil {
		return askDoc{}, fmt.Errorf("%w; no server is started with it", err)
	}
	d := askDoc{Order: ask.Order.Is, Open: []string{}, Waits: ask.Timeout.Is.String(), Command: "clawai approve"}
	if ask.Nobody.Is == "deny" {
		d.Waits = "0s"
	}
	for _, name := range ask.Order.Is {
		if why, known := session.TryChannel(r.c.Context, r.folders, name); known && why == nil && name != "terminal" {
			d.Open = append(d.Open, name)
		}
	}
	return d, nil
}

// tellAsking prints how questions reach the person.
func (r *initRun) tellAsking() error {
	d, err := r.readAskSettings()
	if err != nil {
		return err
	}
	fmt.Fprintln(r.prose, "\nHow you are asked:")
	if len(d.Order) == 0 {
		fmt.Fprintf(r.prose, "  Not at all, as your settings say: what a rule asks about is denied (%s).\n", r.ShortPath(r.folders.SettingsFile()))
		return nil
	}
	fmt.Fprintln(r.prose, "  Keep this running in a second terminal, and every question comes there:")
	fmt.Fprintln(r.prose, "    clawai approve           or as a page in the browser: clawai approve --web")
	if os.Getenv("TMUX") != "" {
		fmt.Fprintln(r.prose, "    tmux new-window -d clawai approve   opens it in this tmux")
	}
	if slices.Contains(d.Order, "elicitation") {
		fmt.Fprintln(r.prose, "  Without it, a client that has a form of its own shows the question there.")
	}
	switch {
	case len(d.Open) > 0:
		fmt.Fprintf(r.prose, "  Open now: %s.\n", strings.Join(d.Open, ", "))
	case d.Waits == "0s":
		fmt.Fprintln(r.prose, "  Nobody answers yet: a call that a rule asks about is denied until then.")
	default:
		fmt.Fprintf(r.prose, "  Nobody answers yet: a call that a rule asks about waits %s, then is denied.\n", d.Waits)
	}
	fmt.Fprintln(r.prose, "  There is no background service: you answer yourself.")
	return nil
}

// trialPolicy is the policy for the trial question.
const trialPolicy = `[[rule]]
action = "prompt"
server = "trial"
tool = "write_file"
description = "A trial of clawai init: answer as you like"
`

// tryQuestion asks one trial question in the same way as for a client's call: with a proxy, a
// server in a temporary folder, and the record.
func (r *initRun) tryQuestion() error {
	answer, err := r.askLine("\nTry one question now? [Y/n] ")
	if err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return nil
	}
	folder, err := demo.MakeFolder([]byte(trialPolicy))
	defer func() {
		if folder.Root != "" {
			_ = folder.Remove()
		}
	}()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	proxy := exec.CommandContext(r.c.Context, self, "proxy", "--policy", folder.Policy, "--server", "trial", "--", self, "demo-server", folder.Home)
	proxy.Dir, proxy.Stderr = folder.Home, os.Stderr
	agent, err := demo.Start(proxy)
	if err != nil {
		return err
	}
	defer func() { _ = agent.Close() }()
	got, err := agent.TryStep(folder.TrialStep())
	switch {
	case err != nil:
		return err
	case got.Refused:
		fmt.Fprintf(r.prose, "Refused, and the server never saw the call: %s\n", term.VisibleText(firstLine(got.Text)))
	default:
		fmt.Fprintln(r.prose, "Let through: the server wrote its file, in a folder that is gone again.")
	}
	fmt.Fprintln(r.prose, "A client keeps the terminal for itself: then clawai approve shows the question.")
	return agent.Close()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
