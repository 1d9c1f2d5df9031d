// Package overview reads what the agents have done, for the terminal and for the page: the latest
// calls, sessions, servers, and the numbers of calls by result. The package writes no file. A long
// record does not increase its memory.
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

// Overview reads the record, the labels of sessions, the clients' files and the policy.
type Overview struct {
	Dir  string // folder of the record
	Home string

	dirs    config.Folders
	active  activity
	tally   Tally
	policy  policyCache
	version atomic.Uint64
}

// New returns an overview of the data in dirs. period is how far back calls are counted; 0 means
// since midnight.
func New(dirs config.Folders, period time.Duration) *Overview {
	o := &Overview{dirs: dirs, Dir: base.RecordDir(dirs.State), Home: dirs.Home}
	o.tally.period, o.tally.changed = period, &o.version
	return o
}

// Version returns a number that increases with every record that is read.
func (o *Overview) Version() uint64 { return o.version.Load() }

// folderWait is the time between two checks for the folder of the record. retryWait is the time
// between two attempts to read the record.
const (
	folderWait = 200 * time.Millisecond
	retryWait  = time.Second
)

// waitFor waits for the time d, or until ctx ends.
func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// tailBytes is how much is read from the end of each file of the record, in bytes. With this limit,
// a long record opens as fast as a short one.
const tailBytes = 2 << 20

// FollowCalls passes the last calls of the record to the function in the parameter show, and then
// each new call, until ctx ends. When the reply to a call arrives, it passes this call to this
// function again. It passes sentences about the record to the function in the parameter notice;
// they are safe for a terminal. When all of the last calls are passed on, FollowCalls calls the
// function in the parameter caught, which may be nil. If the record cannot be read, FollowCalls
// tries again, because the fault may be temporary.
func (o *Overview) FollowCalls(ctx context.Context, last int, show func(*record.Row), notice func(string), caught func()) error {
	told := "" // the last fault that was passed to notice; "" if the record can be read
	for {
		calls := record.Calls{Show: func(r *record.Row) {
			if r.Reply == nil { // the same call comes again with its reply, but it counts only once
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
		o.active.forgetSessions() // the next try counts the last calls again
		waitFor(ctx, retryWait)
	}
}

// ReadCalls passes every call in the record to the function in the parameter show, the oldest
// first. It passes two numbers of bytes to the function progress: the bytes read so far, and the
// size of the record. It stores no call.
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
	}, io.Discard) // damage is ignored, because log verify reports it
	return err
}

// recordBytes returns the size of all files of a record in bytes. Without a record it returns 0.
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

// followRecord passes each record to the function in the parameter add. If the folder of the record
// does not exist yet, followRecord waits for it. It skips damaged records, because clawai log
// verify reports them.
func (o *Overview) followRecord(ctx context.Context, f audit.Filter, add func(*event.Entry) error) error {
	for {
		if _, err := os.Stat(o.Dir); err == nil {
			_, err := record.ShowEach(audit.Follow(ctx, o.Dir, f), add, io.Discard)
			return err
		}
		if f.Caught != nil {
			f.Caught() // there is no folder, so there are no earlier records
		}
		if waitFor(ctx, folderWait); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// policyCache holds the owner's policy in memory until the file changes.
type policyCache struct {
	mu   sync.Mutex
	time time.Time
	size int64
	is   *policy.Policy
}

// LoadPolicy returns the owner's policy. If the policy does not load, rules is nil, and fault is a
// sentence that is safe for a terminal. If there is no policy file yet, rules is nil and fault is
// "".
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

// PolicyFault returns a text with the consequence and the reason if the owner's policy does not
// load, and otherwise "". A running proxy continues with its earlier rules.
func (o *Overview) PolicyFault() string {
	if _, fault := o.LoadPolicy(); fault != "" {
		return "no server starts, and every tool of an agent with a hook is refused: " + fault
	}
	return ""
}
