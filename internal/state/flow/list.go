package flow

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// Shown is a session in the form that people see.
type Shown struct {
	Key  string    `json:"key"`            // "session:...", "process:...", "folder:..."
	Also []string  `json:"also,omitempty"` // keys of the journals that are linked with Key's journal
	Seen []Seen    `json:"seen"`           // labels, the newest first
	Used time.Time `json:"used"`           // time at which something was last added
}

// ListSessions returns the sessions that have journals in a state folder, the last used first. It
// changes no file.
func ListSessions(state string) (sessions []Shown, err error) {
	for s, err := range EachSession(state) {
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	slices.SortStableFunc(sessions, func(a, b Shown) int { return cmp.Compare(b.Used.UnixNano(), a.Used.UnixNano()) })
	return sessions, nil
}

// EachSession yields the sessions one by one, the last used first. It reads a journal only when the
// caller asks for its session, because there may be many thousands of journals.
func EachSession(state string) iter.Seq2[Shown, error] {
	return func(yield func(Shown, error) bool) {
		entries, err := os.ReadDir(dirOf(state))
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Shown{}, err)
			}
			return
		}
		newest := make([]*found, 0, len(entries))
		all := make(map[string]*found, len(entries))
		for _, e := range entries {
			if !isName(e.Name()) {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process has swept the file meanwhile
			}
			if err != nil {
				yield(Shown{}, err)
				return
			}
			one := &found{path: filepath.Join(dirOf(state), e.Name()), used: info.ModTime()}
			all[e.Name()], newest = one, append(newest, one)
		}
		slices.SortStableFunc(newest, func(a, b *found) int { return b.used.Compare(a.used) })
		for _, one := range newest {
			if one.told {
				continue
			}
			s, err := one.collectSession(all)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// found is a journal in the state folder.
type found struct {
	content
	path string
	used time.Time // time of the last change
	told bool      // the journal belongs to a session that was already yielded
}

func readJournal(path string) (c content, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return c, err
	}
	defer file.Close()
	lines, err := (&journal{f: file, most: maxJournal}).readNext()
	if err != nil && !errors.Is(err, errCut) {
		return c, err
	}
	c = parseLines(lines)
	c.torn = c.torn || err != nil
	return c, nil
}

// collectSession returns the session of a journal and of all journals linked with it.
func (f *found) collectSession(all map[string]*found) (s Shown, err error) {
	have := labels{}
	todo := []*found{f}
	for len(todo) > 0 {
		one := todo[0]
		if todo = todo[1:]; one == nil || one.told {
			continue
		}
		one.told = true
		if one.content, err = readJournal(one.path); errors.Is(err, fs.ErrNotExist) {
			continue // another process has swept the file meanwhile
		} else if err != nil {
			return s, err
		}
		s.Also = append(s.Also, one.keys...)
		for _, seen := range one.seen {
			have.addLabel(seen)
		}
		if one.torn {
			have.distrustEverything(one.used)
		}
		if one.used.After(s.Used) {
			s.Used = one.used
		}
		for _, name := range one.links {
			todo = append(todo, all[name])
		}
	}
	slices.Sort(s.Also) // this puts keys of a process before keys that name a session
	s.Also = slices.Compact(s.Also)
	if n := len(s.Also); n > 0 {
		s.Key, s.Also = s.Also[n-1], s.Also[:n-1]
	}
	s.Seen = append([]Seen{}, have.listNewest(policy.SeenWords()...)...)
	return s, nil
}

// TallyCalls returns how many calls of a session count against limits now, and how many calls a
// person has allowed until the session ends. It changes no file. It returns an error if others have
// changed a file.
func (s *Shown) TallyCalls(state string, now time.Time) (counted, granted int, err error) {
	for _, key := range append([]string{s.Key}, s.Also...) {
		all, err := readStanding(dirOf(state), fileOf(key)+countsEnd)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range all {
			if now.Sub(e.At) < e.Every {
				counted++
			}
		}
		if all, err = readStanding(dirOf(state), fileOf(key)+grantedEnd); err != nil {
			return 0, 0, err
		}
		for _, e := range all {
			if (&Ledger{}).Alive(e.By) {
				granted++
			}
		}
	}
	return counted, granted, nil
}
