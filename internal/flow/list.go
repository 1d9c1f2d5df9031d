package flow

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// Shown is a session for people.
type Shown struct {
	Key  string    `json:"key"`            // "session:...", "process:...", "folder:..."
	Also []string  `json:"also,omitempty"` // keys that are linked with it
	Seen []Seen    `json:"seen"`           // the newest first
	Used time.Time `json:"used"`           // when something was last added
}

// List gives the sessions whose journals lie in a state folder, the last used first, and
// changes nothing.
func List(state string) ([]Shown, error) {
	entries, err := os.ReadDir(dirOf(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]*found{}
	for _, e := range entries {
		if isName(e.Name()) {
			one, err := look(filepath.Join(dirOf(state), e.Name()))
			if err != nil {
				return nil, err
			}
			all[e.Name()] = one
		}
	}
	var sessions []Shown
	for _, e := range entries {
		if one := all[e.Name()]; one != nil && !one.told {
			sessions = append(sessions, one.shown(all))
		}
	}
	slices.SortStableFunc(sessions, func(a, b Shown) int { return cmp.Compare(b.Used.UnixNano(), a.Used.UnixNano()) })
	return sessions, nil
}

// found is a journal as it lies there.
type found struct {
	content
	used time.Time
	told bool
}

func look(path string) (*found, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	lines, err := (&journal{f: f, most: maxJournal}).next()
	if err != nil && !errors.Is(err, errCut) {
		return nil, err
	}
	one := &found{content: parse(lines), used: info.ModTime()}
	one.torn = one.torn || err != nil
	return one, nil
}

// shown is the session of a journal and of all that are linked with it.
func (f *found) shown(all map[string]*found) Shown {
	var s Shown
	have := labels{}
	todo := []*found{f}
	for len(todo) > 0 {
		one := todo[0]
		if todo = todo[1:]; one == nil || one.told {
			continue
		}
		one.told = true
		s.Also = append(s.Also, one.keys...)
		for _, seen := range one.seen {
			have.add(seen)
		}
		if one.torn {
			have.distrust(one.used)
		}
		if one.used.After(s.Used) {
			s.Used = one.used
		}
		for _, name := range one.links {
			todo = append(todo, all[name])
		}
	}
	slices.Sort(s.Also) // those of a process stand before those that name a session
	s.Also = slices.Compact(s.Also)
	if n := len(s.Also); n > 0 {
		s.Key, s.Also = s.Also[n-1], s.Also[:n-1]
	}
	s.Seen = append([]Seen{}, have.newest(policy.SeenWords()...)...)
	return s
}

// Tally is how many calls limits count in a session by now, and how many a person has allowed
// until it ends. It changes nothing; a file that is not as it was written is an error.
func (s *Shown) Tally(state string, now time.Time) (counted, granted int, err error) {
	for _, key := range append([]string{s.Key}, s.Also...) {
		all, err := standing(dirOf(state), fileOf(key)+countsEnd)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range all {
			if now.Sub(e.At) < e.Every {
				counted++
			}
		}
		if all, err = standing(dirOf(state), fileOf(key)+grantedEnd); err != nil {
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
