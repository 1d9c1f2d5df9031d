package doctorcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy/where/disk"
)

const (
	replayedDays = 7
	shownCalls   = 3
)

// checkCalls judges the calls of the last week again. It takes only calls after the last change of
// the policy. So a different decision comes from a new version of clawai and not from the owner.
func checkCalls(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	path := p.folders.PolicyFile()
	info, err := os.Stat(path)
	if err != nil {
		return nil // the check of the policy reports this error
	}
	since := time.Now().AddDate(0, 0, -replayedDays)
	if info.ModTime().After(since) {
		since = info.ModTime()
	}
	r, err := p.replayRecord(path, since)
	switch {
	case err != nil:
		return []finding{{Health: doubtful, Text: "the calls of the last week could not be judged again: " + term.VisibleText(err.Error()), Fix: "clawai policy replay --policy " + path + " --since 7d"}}
	case r == nil:
		return nil
	}
	changed := r.Counts[replay.NewlyAllowed] + r.Counts[replay.NewlyAsked] + r.Counts[replay.NewlyDenied]
	if changed == 0 {
		return healthyFinding("%s since %s: judged today as they were", cmdline.CountText(r.Decisions, "1 call", "%d calls"), since.Format(time.DateOnly))
	}
	return []finding{{
		Health: doubtful,
		Text: fmt.Sprintf("%s of %d since %s would be judged otherwise by this version of clawai, under the same policy: %s",
			cmdline.CountText(changed, "1 call", "%d calls"), r.Decisions, since.Format(time.DateOnly), callsOf(r)),
		Fix: "look at all of them with: clawai policy replay --policy " + path + " --since 7d",
	}}
}

// replayRecord judges the calls since a time again. It returns nil if the policy does not load.
func (p *machine) replayRecord(path string, since time.Time) (*replay.Report, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := policyfile.PolicyOptions(p.folders.Home)
	o.Disk = disk.SystemDisk()
	if o.HideDenied, err = config.LoadHideDenied(p.folders); err != nil {
		return nil, err
	}
	if o.Above, _, err = base.LayersOf(p.folders).LoadAbove(o); err != nil {
		return nil, nil //nolint:nilerr // the check of layers reports this error
	}
	j, err := replay.NewJudge(path, src, o)
	if err != nil {
		return nil, nil //nolint:nilerr // the check of the policy reports this error
	}
	dir := filepath.Join(p.folders.State, "audit")
	r, err := replay.Run(j, audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Decision}, Since: since}), shownCalls)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

// callsOf names some calls with a different decision. The text is safe for a terminal.
func callsOf(r *replay.Report) string {
	var all []string
	for _, x := range r.Examples {
		if x.Class == replay.NotJudged || len(all) == shownCalls {
			continue
		}
		call := strings.Join(x.Names, " ")
		if x.Args != "" {
			call += " " + x.Args
		}
		all = append(all, fmt.Sprintf("%s (was %s, is %s)", term.VisibleText(call), term.VisibleText(x.Was), x.Is))
	}
	return strings.Join(all, "; ")
}
