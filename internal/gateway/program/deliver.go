package program

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/site"
)

// newWays returns the ways for messages about questions that gateway.toml configures. slack is the client of
// Slack; nil if gateway.toml does not configure Slack.
func newWays(s *centre.Settings, now func() time.Time) (ways []message.Way, slack *message.Slack, err error) {
	read := func(s message.Secret) (string, error) { return readSecret(s.Of, s.File, s.Env, os.Getenv) }
	if s.Slack.IsOn() {
		if slack, err = message.NewSlack(s.Slack, read, now); err != nil {
			return nil, nil, err
		}
		ways = append(ways, slack.Ways()...)
	}
	for i := range s.Webhooks {
		way, err := message.NewWebhook(s.Webhooks[i], read, now)
		if err != nil {
			return nil, nil, err
		}
		ways = append(ways, way)
	}
	mails, err := message.NewMail(s.Mail, read, now)
	return append(ways, mails...), slack, err
}

// startDelivery sends messages about questions until the returned function is called. It also sets the site's
// client of Slack, so that the site takes answers from Slack.
func startDelivery(ctx context.Context, is *centre.Centre, s *site.Site) (end func(), err error) {
	ways, slack, err := newWays(&is.Settings, is.Now)
	if err != nil {
		return nil, err
	}
	s.Slack = slack
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, way := range ways {
		all.Go(func() { is.Deliver(ctx, way, s.Address(), s.Report) })
	}
	return func() { stop(); all.Wait() }, nil
}
