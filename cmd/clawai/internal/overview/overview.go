// Package overview reads the data about the agents' work for the terminal and for the page: the latest
// calls, sessions, servers, and counts of calls by their result. Both use the same model. The package
// writes no file, and its memory is limited, however long the record is.
package overview

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// Overview reads the record, the labels of sessions, clients' files and the policy.
type Overview struct {
	Dir  string // folder of the record
	Home string

	dirs    config.Folders
	active  activity
	tally   Tally
	policy  policyCache
	version atomic.Uint64
}

// New returns an overview of the folders. period is how far back calls are counted; 0 means since
// midnight.
func New(dirs config.Folders, period time.Duration) *Overview {
	o := &Overview{dirs: dirs, Dir: base.RecordDir(dirs.State), Home: dirs.Home}
	o.tally.period, o.tally.changed = period, &o.version
	return o
}

// Version returns a number that grows with every record that is read.
func (o *Overview) Version() uint64 { return o.version.Load() }

// folderWait is the time between two looks for the folder of the record, and retryWait that between
// two attempts to read it.
const (
	folderWait = 200 * time.Millisecond
	retryWait  = time.Second
)

// waitFor waits for some time, or until ctx ends.
func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// tailBytes is how much at the end of each file of the record is read for the latest calls, so that a
// long record opens as fast as a short one.
const tailBytes = 2 << 20

// FollowCalls calls show with the last calls of the record and then with each new one, until ctx
// ends. It calls show again with a call whose reply has come. It calls notice with harmless sentences
// about the record, and caught when the last calls are shown; caught may be nil. If the record cannot be
// read, it tries again, because the fault may end.
func (o *Overview) FollowCalls(ctx context.Context, last int, show func(*record.Row), notice func(string), caught func()) error {
	told := "" // the fault that was told last
	for {
		calls := record.Calls{Show: func(r *record.Row) {
			if r.Reply == nil { // count a call once: with its reply it is shown a second time
				o.active.addCall(&r.Entry)
			}
			show(r)
			o.version.Add(1)
		}}
		f := audit.Filter{Kinds: callKinds, Replies: true, Last: last, Tail: tailBytes, Caught: func() {
			if told != "" {
				told = ""
				notice("the record can be read again")
				o.version.Add(1)
			}
			if caught != nil {
				caught()
			}
		}}
		err := o.followRecord(ctx, f, calls.Add)
		switch {
		case err == nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case errors.Is(err, audit.ErrReplaced):
			notice("the folder of the record was removed or replaced; what is recorded from now on follows")
			o.version.Add(1)
			continue
		}
		if text := "the record cannot be read: " + term.VisibleText(err.Error()); text != told {
			told = text
			notice(text)
			o.version.Add(1)
		}
		o.active.forgetSessions() // they come again with the last calls
		waitFor(ctx, retryWait)
	}
}

// ReadCalls calls show with every call of the record, the oldest first, and progress with the number
// of bytes that are read, and of all. It keeps no call.
func (o *Overview) ReadCalls(ctx context.Context, show func(*record.Row), progress func(read, all int64)) error {
	all, err := recordBytes(o.Dir)
	if err != nil {
		return err
	}
	calls := record.Calls{Show: show}
	var read int64
	_, err = record.ShowEach(audit.Read(o.Dir, audit.Filter{}), func(e *event.Entry) error {
		if read += int64(len(e.Raw)) + 1; ctx.Err() == nil {
			progress(read, all)
		}
		return errors.Join(calls.Add(e), ctx.Err())
	}, io.Discard) // log verify reports damage
	return err
}

// recordBytes returns the size of the files of a record. It is 0 if no session has made a record yet.
func recordBytes(dir string) (all int64, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			all += info.Size()
		}
	}
	return all, err
}

var callKinds = []event.Kind{event.Decision, event.Dropped}

// followRecord calls add with each record. It waits for the folder of the record, which the first session
// makes. It skips damaged records, which clawai log verify reports.
func (o *Overview) followRecord(ctx context.Context, f audit.Filter, add func(*event.Entry) error) error {
	for {
		if _, err := os.Stat(o.Dir); err == nil {
			_, err := record.ShowEach(audit.Follow(ctx, o.Dir, f), add, io.Discard)
			return err
		}
		if f.Caught != nil {
			f.Caught() // there is nothing to catch up with
		}
		if waitFor(ctx, folderWait); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// policyCache holds the owner's policy until its file changes.
type policyCache struct {
	mu   sync.Mutex
	time time.Time
	size int64
	is   *policy.Policy
}

// LoadPolicy returns the owner's policy. If it does not load, it returns nil and the fault, a harmless
// sentence. Before init has written a policy, both are empty.
func (o *Overview) LoadPolicy() (rules *policy.Policy, fault string) {
	c := &o.policy
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(o.dirs.PolicyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err == nil {
		if c.is != nil && info.ModTime().Equal(c.time) && info.Size() == c.size {
			return c.is, ""
		}
		c.is, c.time, c.size = nil, info.ModTime(), info.Size()
		var loaded *config.Loaded
		if loaded, err = (&base.Files{Disk: disk.SystemDisk(), Packs: packs.Read}).Load(o.dirs); err == nil {
			c.is = loaded.Policy
			return c.is, ""
		}
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return nil, cmdline.ShortenHome(term.VisibleText(first), o.Home)
}

// PolicyFault returns the reason and the effect if the owner's policy does not load; "" if it loads. A
// running proxy keeps its present rules.
func (o *Overview) PolicyFault() string {
	if _, fault := o.LoadPolicy(); fault != "" {
		return "no server starts, and every tool of an agent with a hook is refused: " + fault
	}
	return ""
}
