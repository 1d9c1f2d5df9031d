package session

import (
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/release"
	"github.com/clawai/clawai/internal/text/redact"
)

// ReleaseAnswer releases the next answer to a recorded call, and records the release first. The
// parameter by is the name of the person who releases the answer. The result until is the time at
// which the release ends. withheld is the record of the withheld answer.
func ReleaseAnswer(folders config.Folders, call, withheld *event.Entry, by string) (until time.Time, err error) {
	log, err := base.OpenRecord(folders.State, redact.Redacted, audit.SyncEach)
	if err != nil {
		return until, err
	}
	err = log.Record(&event.Event{
		Kind: event.Answered, Server: call.Server, ServerGuess: call.ServerGuess, Direction: withheld.Direction, Method: call.Method, Subject: call.Subject, Names: call.Names,
		Channel: "release", Answer: gate.AllowOnce.String(), By: by, Ref: withheld.Record, Release: withheld.Release,
		Detail: "the next answer to the same call goes on, with marks around its texts",
	})
	if closed := log.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return until, err
	}
	return release.Store{State: folders.State}.Grant(withheld.Release, gate.Release{Record: withheld.Record, By: by})
}
