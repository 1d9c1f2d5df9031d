package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// removeOld deletes closed segments that are older than KeepFor, and the oldest
// beyond Keep bytes, and says so in the ledger before it does.
func removeOld(dir string, o Options) error {
	victims, err := old(dir, o)
	if err != nil || len(victims) == 0 {
		return err
	}
	return withLedger(dir, o.Now, func(led *ledger) error {
		victims, err := old(dir, o) // another session may have been here
		for _, v := range victims {
			if err != nil {
				break
			}
			err = led.remove(v)
		}
		return err
	})
}

// victim is a segment that retention removes.
type victim struct{ path, why string }

func old(dir string, o Options) ([]victim, error) {
	all, err := segments(dir)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, fi := range all {
		if isClosed(fi) {
			total += fi.Size()
		}
	}
	var victims []victim
	for _, fi := range all {
		if !isClosed(fi) {
			continue
		}
		v := victim{path: filepath.Join(dir, fi.Name())}
		switch {
		case o.KeepFor > 0 && o.Now().Sub(fi.ModTime()) > o.KeepFor:
			v.why = fmt.Sprintf("older than %v", o.KeepFor.Round(time.Second))
		case o.Keep > 0 && total > o.Keep:
			v.why = fmt.Sprintf("more than %d bytes of closed segments", o.Keep)
		default:
			continue
		}
		total -= fi.Size()
		victims = append(victims, v)
	}
	return victims, nil
}

// remove deletes one segment, unless somebody writes it after all.
func (l *ledger) remove(v victim) error {
	f, err := openFree(v.path)
	if f == nil {
		return err
	}
	f.Close() // an open file cannot be removed everywhere; nobody begins to write a closed one
	if err := l.append(mark{Kind: removed, Segment: filepath.Base(v.path), Detail: v.why}); err != nil {
		return err
	}
	return os.Remove(v.path)
}
