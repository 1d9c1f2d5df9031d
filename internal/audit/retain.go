package audit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// removeOld deletes closed segments that are older than KeepFor, and the oldest
// beyond Keep bytes, and says so in the ledger before it does.
func removeOld(dir string, all []fs.FileInfo, o Options) error {
	if len(old(dir, all, o)) == 0 {
		return nil
	}
	return withLedger(dir, o.Now, func(led *ledger) error {
		all, err := segments(dir) // another session may have been here
		for _, v := range old(dir, all, o) {
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

func old(dir string, all []fs.FileInfo, o Options) []victim {
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
	return victims
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
