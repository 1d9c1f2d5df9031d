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

// slackPath is where Slack tells of clicks.
const slackPath = "/slack/interactions"

// maxClick is how many bytes the body of a click may have; Slack sends the whole message along.
const maxClick = 256 << 10

// maxTelling is how many users of Slack are told something at the same time.
const maxTelling = 8

// serveSlack takes a click that Slack has signed. Slack waits three seconds for the answer; what becomes of the
// click is told in Slack afterwards.
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

// tellClick tells who clicked why nothing came of it.
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
