package centre

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
)

// maxPeople is the largest number of people who must agree to a bundle.
const maxPeople = 2

// Errors of a person's answer to a bundle that waits. A person gets their texts unchanged.
var (
	ErrBundleOver   = errors.New("the bundle does not wait any more: it is in force, was rejected, or a newer one was published")
	ErrBundleOlder  = errors.New("a bundle with a higher counter is in force, so this one can only be rejected")
	ErrOtherBundle  = errors.New("another bundle has this number now; look at it first")
	ErrPublisher    = errors.New("you published it, so others must put it into force")
	ErrNoBundleRole = fmt.Errorf("only people with the role %s put bundles into force", principal.Admin)
	ErrAgreed       = errors.New("you have said so before, and it waits for somebody else")
)

// PeopleWanted returns how many people must agree to a bundle that waits. A bundle that was published before
// "people" was set to 0 still needs one person.
func (s *Settings) PeopleWanted() int { return max(s.Bundles.People, 1) }

// PeopleText returns a number of people as a text.
func PeopleText(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// Publish publishes a bundle like PublishAs, but for a command in the centre's folder. The parameter by is the
// name of the publisher in lists of bundles.
func (c *Centre) Publish(ctx context.Context, src []byte, by string) (store.Proposal, error) {
	return c.publish(ctx, src, by, principal.Principal{})
}

// PublishAs stores a bundle. A key in gateway.toml must have signed it, and its counter must be higher than that of
// every bundle before. Laptops get it at once (ProposalActivated), or after the number of people in gateway.toml
// have agreed to it (ProposalWaits).
func (c *Centre) PublishAs(ctx context.Context, src []byte, who principal.Principal) (store.Proposal, error) {
	return c.publish(ctx, src, who.String(), who)
}

func (c *Centre) publish(ctx context.Context, src []byte, by string, who principal.Principal) (store.Proposal, error) {
	b, signers, err := c.ReadSigned(src)
	if err != nil {
		return store.Proposal{}, err
	}
	sum := sha256.Sum256(src)
	kept := store.Bundle{Counter: b.Counter, Digest: hex.EncodeToString(sum[:]), Created: b.Created, Published: c.now(), Key: strings.Join(signers, ", "), By: by, Bytes: src}
	p := store.Proposal{Bundle: kept, Publisher: who, State: store.ProposalActivated}
	if c.Settings.Bundles.People > 0 {
		p.State = store.ProposalWaits
		err = c.Store.AddProposal(ctx, p)
	} else {
		err = c.Store.AddBundle(ctx, kept)
	}
	if errors.Is(err, store.ErrOlder) {
		return c.publishAgain(ctx, &kept)
	}
	return p, err
}

// publishAgain returns the state of a bundle that was published before. It returns an error if the newest bundle
// is another one, or if the bundle was rejected. If gateway.toml does not require people any more, publishAgain
// puts a waiting bundle into force.
func (c *Centre) publishAgain(ctx context.Context, b *store.Bundle) (store.Proposal, error) {
	bundles, err := c.Store.ListBundles(ctx, 1)
	if err != nil {
		return store.Proposal{}, err
	}
	proposals, err := c.Store.ListProposals(ctx, 1)
	if err != nil {
		return store.Proposal{}, err
	}
	var newest store.Proposal
	if len(proposals) > 0 {
		newest = proposals[0]
	}
	if len(bundles) > 0 && bundles[0].Counter >= newest.Counter {
		newest.Bundle, newest.State = bundles[0], store.ProposalActivated
	}
	again := fmt.Sprintf("make it again with: clawai policy bundle make --counter %d", newest.Counter+1)
	switch {
	case newest.Digest != b.Digest:
		return newest, &BundleError{fmt.Errorf("the bundle has the counter %d, and the newest one here has %d; %s", b.Counter, newest.Counter, again)}
	case newest.State == store.ProposalRejected:
		return newest, &BundleError{fmt.Errorf("it was rejected by %s; %s", newest.DecidedBy, again)}
	case newest.State == store.ProposalWaits && c.Settings.Bundles.People == 0:
		newest, err = c.Store.ChangeProposal(ctx, b.Counter, func(p *store.Proposal) error {
			p.State, p.Decided, p.DecidedBy = store.ProposalActivated, c.now(), b.By
			return nil
		})
		return newest, explainProposal(err)
	}
	return newest, nil
}

// explainProposal returns the error that a person gets for an error of the store.
func explainProposal(err error) error {
	switch {
	case errors.Is(err, store.ErrOver):
		return ErrBundleOver
	case errors.Is(err, store.ErrOlder):
		return ErrBundleOlder
	}
	return err
}

// Voters holds people with their present data, by their keys: those who have agreed to a bundle, its publisher, and
// the person who asks.
type Voters map[string]principal.Principal

// now returns a person with the present data, or unchanged if no newer data is known.
func (all Voters) now(p principal.Principal) principal.Principal {
	if newer, ok := all[p.Key()]; ok {
		return newer
	}
	return p
}

// FindVoters returns the people who have agreed to a bundle, the bundle's publisher, and the people in the list
// others. They have the groups and the address of their last sign-in, and their present roles. All these can
// change while a bundle waits for days, or while a session lasts for hours.
func (c *Centre) FindVoters(ctx context.Context, p *store.Proposal, others ...principal.Principal) (Voters, error) {
	all := Voters{}
	people := append([]principal.Principal{p.Publisher}, others...)
	for i := range p.Votes {
		people = append(people, p.Votes[i].By)
	}
	for _, who := range people {
		known, err := c.Store.ListPeople(ctx, who.Key())
		if err != nil {
			return nil, err
		}
		if len(known) == 1 {
			who = c.withGroupsOf(known[0])
		}
		all[who.Key()] = c.withRoles(who)
	}
	return all, nil
}

// MayAgree returns nil if a person can agree to a bundle that waits, or the reason why not. The role in the person's
// session is not enough: a person who has signed in again later, without the role, has lost it.
func (c *Centre) MayAgree(p *store.Proposal, who principal.Principal, all Voters) error {
	last := all.now(who)
	switch {
	case !c.knows(who) || !who.Has(principal.Admin) || !last.Has(principal.Admin):
		return ErrNoBundleRole
	case p.Publisher.IsSame(who), all.now(p.Publisher).IsSame(last):
		return ErrPublisher
	}
	return nil
}

// Counts reports whether a vote agrees to a bundle and is still valid: its person is known, and may still
// agree to the bundle.
func (c *Centre) Counts(p *store.Proposal, v *store.Vote, all Voters) bool {
	who, ok := all[v.By.Key()]
	return ok && v.Allow && c.MayAgree(p, who, all) == nil
}

// CountAgreed returns the number of people with a valid vote for a bundle (Counts). Two accounts that have the
// same address now are counted as one person.
func (c *Centre) CountAgreed(p *store.Proposal, all Voters) int {
	var agreed []principal.Principal
	for i := range p.Votes {
		who := all[p.Votes[i].By.Key()]
		if c.Counts(p, &p.Votes[i], all) && !slices.ContainsFunc(agreed, who.IsSame) {
			agreed = append(agreed, who)
		}
	}
	return len(agreed)
}

// Agree stores that a person agrees to a bundle that waits. If enough people have agreed now, the bundle is put into
// force. Before that, Agree checks again that a key in gateway.toml has signed the bundle, and that the bundle is
// newer than the one in force. It counts only people who may still agree. digest is the digest of the bundle that the
// person has seen.
func (c *Centre) Agree(ctx context.Context, counter uint64, digest string, who principal.Principal) (store.Proposal, error) {
	found, err := c.Store.FindProposal(ctx, counter)
	if err != nil {
		return found, err
	}
	voters, err := c.FindVoters(ctx, &found, who)
	if err != nil {
		return found, err
	}
	return c.answerBundle(ctx, counter, digest, func(p *store.Proposal) error {
		if err := c.MayAgree(p, who, voters); err != nil {
			return err
		}
		if _, _, err := c.ReadSigned(p.Bytes); err != nil {
			return err
		}
		for i := range p.Votes {
			by := p.Votes[i].By
			if _, ok := voters[by.Key()]; !ok { // the person has agreed after FindVoters was called
				voters[by.Key()] = c.withRoles(by)
			}
		}
		same := func(v store.Vote) bool { return v.By.IsSame(who) }
		before := slices.ContainsFunc(p.Votes, same)
		p.Votes = append(slices.DeleteFunc(p.Votes, same), store.Vote{By: who, Allow: true, At: c.now(), Way: ByPage})
		switch {
		case c.CountAgreed(p, voters) >= c.Settings.PeopleWanted():
			p.State, p.Decided, p.DecidedBy = store.ProposalActivated, c.now(), who.String()
		case before:
			return ErrAgreed
		}
		return nil
	})
}

// Reject ends a bundle that waits. Its counter stays used. The publisher and people who have agreed can reject
// it too.
func (c *Centre) Reject(ctx context.Context, counter uint64, digest string, who principal.Principal) (store.Proposal, error) {
	return c.answerBundle(ctx, counter, digest, func(p *store.Proposal) error {
		if !c.knows(who) || !who.Has(principal.Admin) {
			return ErrNoBundleRole
		}
		p.Votes = append(slices.DeleteFunc(p.Votes, func(v store.Vote) bool { return v.By.IsSame(who) }), store.Vote{By: who, At: c.now(), Way: ByPage})
		p.State, p.Decided, p.DecidedBy = store.ProposalRejected, c.now(), who.String()
		return nil
	})
}

// answerBundle changes a bundle that waits. It returns ErrOtherBundle if the bundle has another digest.
func (c *Centre) answerBundle(ctx context.Context, counter uint64, digest string, change func(*store.Proposal) error) (store.Proposal, error) {
	p, err := c.Store.ChangeProposal(ctx, counter, func(p *store.Proposal) error {
		if p.Digest != digest {
			return ErrOtherBundle
		}
		return change(p)
	})
	return p, explainProposal(err)
}

// Published is a bundle that was published, with its state as texts for people.
type Published struct {
	store.Proposal
	Word   string   // such as "in force"
	Agreed []string // names and keys of the people who agreed to the bundle, in the order of their votes
}

// ListPublished returns the newest published bundles without their bytes, the newest first. Some of them wait or have
// waited for people; the others were put into force at once.
func (c *Centre) ListPublished(ctx context.Context, most int) ([]Published, error) {
	bundles, err := c.Store.ListBundles(ctx, most)
	if err != nil {
		return nil, err
	}
	proposals, err := c.Store.ListProposals(ctx, most)
	if err != nil {
		return nil, err
	}
	var all []Published
	waited := map[uint64]bool{}
	for i := range proposals {
		waited[proposals[i].Counter] = true
		all = append(all, Published{Proposal: proposals[i]})
	}
	for i := range bundles {
		if !waited[bundles[i].Counter] {
			all = append(all, Published{Proposal: store.Proposal{Bundle: bundles[i], State: store.ProposalActivated}})
		}
	}
	slices.SortFunc(all, func(a, b Published) int { return cmp.Compare(b.Counter, a.Counter) })
	all = all[:min(len(all), most)]
	for i := range all {
		if err := c.describe(ctx, &all[i], len(bundles) > 0 && bundles[0].Counter == all[i].Counter); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// describe adds the texts to a bundle.
func (c *Centre) describe(ctx context.Context, p *Published, inForce bool) error {
	for i := range p.Votes {
		if p.Votes[i].Allow {
			p.Agreed = append(p.Agreed, p.Votes[i].By.String())
		}
	}
	switch {
	case inForce:
		p.Word = "in force"
	case p.State == store.ProposalActivated:
		p.Word = "was in force"
	case p.State != store.ProposalWaits:
		p.Word = p.State
	default:
		voters, err := c.FindVoters(ctx, &p.Proposal)
		if err != nil {
			return err
		}
		p.Word = fmt.Sprintf("waits, %d of %d agreed", c.CountAgreed(&p.Proposal, voters), c.Settings.PeopleWanted())
	}
	return nil
}
