package cmdline

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// quietTime is how long work takes before its progress is shown.
const quietTime = time.Second

// ShowProgress shows the name of some work and the seconds so far on standard error, until the
// caller calls the returned function. It shows nothing in the first second, and nothing if standard
// error is not a terminal.
func ShowProgress(what string) (done func()) {
	if ScreenWidth(os.Stderr) == 0 {
		return func() {}
	}
	return showProgress(os.Stderr, what, os.Getenv("TERM") != "dumb", quietTime)
}

// showProgress writes a line to w at regular intervals, until the returned function (done) is
// called. The parameter every is the length of an interval. If replaces is true, each line replaces
// the previous line, and the returned function removes the last line. Otherwise it writes only the
// first line.
func showProgress(w io.Writer, what string, replaces bool, every time.Duration) (done func()) {
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick, shown := time.NewTicker(every), 0
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-stop:
				if shown > 0 && replaces {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			}
			switch shown++; {
			case replaces:
				fmt.Fprintf(w, "\r\x1b[K%s, %s so far", what, time.Duration(shown)*every)
			case shown == 1:
				fmt.Fprintf(w, "%s; this takes a while\n", what)
			}
		}
	})
	var once sync.Once
	return func() { once.Do(func() { close(stop) }); ended.Wait() }
}
