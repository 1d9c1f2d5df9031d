package site

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
)

// slackPath is the path to which Slack sends clicks.
const slackPath = "/slack/interactions"

// maxClick is the maximum size of a click's body in bytes. Slack sends the whole message with the click.
const maxClick = 256 << 10

// maxTelling is the maximum number of texts that are being sent to users of Slack at the same time.
const maxTelling = 8

// serveSlack handles a click that Slack has signed. Slack waits only three seconds for the answer. So if the
// click is refused, the answer does not contain the reason: tellClick sends the reason to the user in a message.
func (s *Site) serveSlack(w http.ResponseWriter, r *http.Request) {
	if s.Slack == nil || page.CheckHost(r, s.origin) != nil {
		http.Error(w, "There is nothing here.", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Only POST is answered here.", http.StatusMethodNotAllowed)
		return
	}
	body, err := readBody(w, r, maxClick)
	if err == nil && s.Slack.CheckSignature(r.Header, body) != nil {
		err = refuse(http.StatusUnauthorized, "This is no request of Slack.")
	}
	if err != nil {
		status, text := statusOf(err)
		http.Error(w, text, status)
		return
	}
	click, ok, err := s.Slack.ReadClick(body)
	if err != nil {
		http.Error(w, "The click cannot be read.", http.StatusBadRequest)
		return
	}
	if !ok {
		return
	}
	if err := s.centre.VoteInSlack(r.Context(), s.Slack, click); err != nil {
		s.tellClick(r, click, err)
	}
}

// tellClick sends the user who clicked the reason why the click decided nothing.
func (s *Site) tellClick(r *http.Request, c message.Click, err error) {
	err = explainQuestion(err)
	for _, known := range []error{centre.ErrNotKnown, centre.ErrNotWhole} {
		if errors.Is(err, known) {
			err = refuse(http.StatusForbidden, known.Error()+".")
		}
	}
	if errors.Is(err, store.ErrNone) {
		err = notFound
	}
	s.report(r, err)
	_, text := statusOf(err)
	if !s.beginWork("slack", maxTelling) {
		return
	}
	ctx := context.WithoutCancel(r.Context())
	go func() {
		defer s.endWork("slack")
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		if err := s.Slack.Tell(ctx, c.Channel, c.User, "Your click decided nothing: "+text); err != nil && s.Report != nil {
			s.Report(err)
		}
	}()
}
