package centre

import (
	"context"
	"errors"

	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/principal"
)

// Errors whose text a user of Slack gets unchanged.
var (
	ErrNotKnown = errors.New("the centre does not know who you are in Slack; sign in on its page once, with the same e-mail address, or ask its administrator for a [[slack.user]]")
	ErrNotWhole = errors.New("the message does not show all that the call carries; read and allow it on the page")
)

// FindUser returns the person who is a user of Slack, with their present roles. Groups are those of the
// person's last sign-in at the centre; they are left out if that was more than slack.groups_hours ago.
func (c *Centre) FindUser(ctx context.Context, s *message.Slack, user string) (principal.Principal, error) {
	var none principal.Principal
	name, err := s.FindName(ctx, user)
	if err != nil {
		return none, err
	}
	all, err := c.Store.ListPeople(ctx, name)
	if err != nil {
		return none, err
	}
	// If two accounts have the same address, it is not known which of them clicked.
	if len(all) != 1 || !c.knows(all[0].Principal) {
		return none, ErrNotKnown
	}
	p := all[0].Principal
	if age := c.now().Sub(all[0].Seen); age < 0 || age > s.GroupsLife() {
		p.Groups, p.GroupsKnown = nil, false
	}
	return c.withRoles(p), nil
}

// VoteInSlack stores the answer of a click. ErrNotWhole: the click allows a call that the message does not
// show whole.
func (c *Centre) VoteInSlack(ctx context.Context, s *message.Slack, click message.Click) error {
	p, err := c.FindUser(ctx, s, click.User)
	if err != nil {
		return err
	}
	if click.Allow {
		q, err := c.Store.FindQuestion(ctx, click.Question)
		if err != nil {
			return err
		}
		if !s.ShowsWhole(&q) {
			return ErrNotWhole
		}
	}
	_, err = c.Vote(ctx, Ballot{By: p, Way: BySlack, Question: click.Question, Digest: click.Digest, Allow: click.Allow})
	return err
}
