package wrapcmd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// HookStatus is the state of one client's hooks, for JSON and for the screen.
type HookStatus struct {
	Client string `json:"client"`
	Name   string `json:"name"`
	// the server name that rules and the record use for the client's own tools
	Server string         `json:"server"`
	State  wrap.HookState `json:"state"`
	Words  string         `json:"words"`
	Why    string         `json:"why,omitempty"`
	// Differs has each difference from the hooks that wrap writes, if the hooks have drifted.
	Differs []string `json:"differs,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	Others  int      `json:"others,omitempty"` // number of hooks of other programs in these files
	Newer   string   `json:"newer,omitempty"`  // a warning if the client is newer than the tested version
}

// HookStatus returns the state of the hooks of all clients on this machine.
func (f *Found) HookStatus() ([]HookStatus, error) {
	all, err := f.FindHooks()
	if err != nil {
		return nil, err
	}
	list := []HookStatus{}
	for _, h := range all {
		s := HookStatus{Client: h.Row.Client, Name: h.Row.Name, Server: h.Row.HookWord()}
		s.State, s.Why = f.Judge.HookState(h, all)
		s.Words = s.State.StateText()
		if s.State == wrap.HookDrifted {
			s.Differs = f.Judge.HookDiffers(h)
		}
		for _, file := range h.Files {
			s.Others += len(file.Hooked.Others)
			if !file.Absent {
				s.Paths = append(s.Paths, file.Path)
			}
		}
		if s.State != wrap.HookBare {
			s.Newer = NewerClient(h, InstalledVersion(h))
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b HookStatus) int { return strings.Compare(a.Client, b.Client) })
	return list, nil
}

// hasBrokenHooks reports whether some installed hooks do not work. It ignores clients without
// hooks, and clients whose hooks only observe, because both may be the owner's choice.
func hasBrokenHooks(hooks []HookStatus) bool {
	return slices.ContainsFunc(hooks, func(h HookStatus) bool {
		return !h.State.IsCovered() && h.State != wrap.HookBare && h.State != wrap.HookObserved
	})
}

var hookColors = map[wrap.HookState]string{
	wrap.HookEnforced: cmdline.Green, wrap.HookOpen: cmdline.Yellow, wrap.HookUntrusted: cmdline.Yellow, wrap.HookObserved: cmdline.Yellow,
	wrap.HookDrifted: cmdline.Red, wrap.HookUnreadable: cmdline.Red, wrap.HookBare: cmdline.Dim,
}

// printHooks prints the state of a client's hooks, below the client's files.
func (p *statusPrinter) printHooks(h HookStatus) {
	line := "  hooks: " + p.paint(hookColors[h.State], h.Words)
	if len(h.Paths) > 0 && h.State != wrap.HookBare {
		line += "  " + p.ShortPath(h.Paths[0])
	}
	fmt.Fprintln(&p.out, line)
	for _, text := range []string{h.Why, h.Newer} {
		if text == "" {
			continue
		}
		for _, line := range view.WrapWords(term.VisibleText(text), max(0, p.width-5)) {
			fmt.Fprintln(&p.out, "    "+line)
		}
	}
}

// hookSummary prints the number of clients in each state.
func (p *statusPrinter) hookSummary(hooks []HookStatus) {
	var counts []string
	for _, state := range []wrap.HookState{wrap.HookEnforced, wrap.HookOpen, wrap.HookUntrusted, wrap.HookObserved, wrap.HookDrifted, wrap.HookUnreadable, wrap.HookBare} {
		n := 0
		for _, h := range hooks {
			if h.State == state {
				n++
			}
		}
		if n > 0 {
			words, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(state.StateText(), "hook"), ", "), " by hook")
			counts = append(counts, fmt.Sprintf("%d %s", n, words))
		}
	}
	if len(counts) > 0 {
		p.printParagraph("", fmt.Sprintf("Hooks of %s: %s", cmdline.CountText(len(hooks), "1 client", "%d clients"), strings.Join(counts, ", ")))
	}
}

// LastUsed returns the time when the client last wrote one of its working files, or the zero time
// if this is unknown.
func (f *Found) LastUsed(h wrap.Hooks) (last time.Time) {
	for _, path := range (client.Row{Paths: h.Row.Used}).FindFiles(f.env) {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
