package session

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/cage/preview"
	"github.com/clawai/clawai/internal/cage/preview/report"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
)

// PreviewQuestion runs the command of a question in a way that has no effects, and returns what the
// command would do. It takes a few seconds at most. project is the folder in which we were started.
func PreviewQuestion(ctx context.Context, q gate.Question, f config.Folders, project string) *report.Result {
	if len(q.Calls) != 1 {
		return &report.Result{Fault: "it asks for several things at once"}
	}
	words, folder := view.CommandOf(&q.Calls[0])
	if len(words) == 0 {
		return &report.Result{Fault: "the call names no command"}
	}
	if q.Calls[0].Cwd != "" {
		project = q.Calls[0].Cwd
	}
	dir, known := joinFolder(f.Home, project, folder)
	if !known {
		return &report.Result{Fault: "the folder in which it would run is not known"}
	}
	o := preview.Options{Command: words, Dir: dir, Home: f.Home, Own: []string{f.Config, f.State}}
	if len(words) == 1 {
		o.Text, o.Command = words[0], nil
	}
	return preview.Run(ctx, o)
}

// joinFolder returns the folder in which a command starts. known is false if that folder is not an
// absolute path.
func joinFolder(home, project, folder string) (dir string, known bool) {
	for _, path := range []string{project, folder} {
		if rest, found := strings.CutPrefix(path, "~"); found && (rest == "" || rest[0] == '/') {
			path = filepath.Join(home, rest)
		}
		switch {
		case filepath.IsAbs(path):
			dir = path
		case path != "":
			dir = filepath.Join(dir, path)
		}
	}
	return dir, filepath.IsAbs(dir)
}

// NotePreview returns the event of a preview. The event has the number of files, the programs and
// the hosts.
func NotePreview(q gate.Question, r *report.Result) *event.Event {
	return &event.Event{
		Kind: event.Chatter, Code: "preview", Server: q.Server, Method: q.Calls[0].Method, Names: q.Calls[0].Names, Digest: q.Digest, Detail: view.BriefPreview(r),
	}
}

// preview returns, as JSON, what the command of a question would do.
func (a *asking) preview(ctx context.Context, q gate.Question) []byte {
	r := PreviewQuestion(ctx, q, a.folders, a.view.Project)
	_ = a.guard.noteServerEvents(NotePreview(q, r)) // a failed record changes nothing, because a preview decides nothing
	text, err := json.Marshal(r)
	if err != nil {
		a.onError(err)
	}
	return text
}
