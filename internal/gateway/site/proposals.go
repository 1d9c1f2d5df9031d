package site

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/bundle"
)

// Limits of the list of bundles that people decide about.
const (
	mostProposals = 20
	mostLines     = 5000 // lines of a waiting bundle's policy that are shown
)

// BundlesPath is the path of the page of bundles.
const BundlesPath = bundlesPage

// answerBundlePath is the path of the form with which a person agrees to a waiting bundle or rejects it.
const answerBundlePath = "/answer-bundle"

// proposalsData is the part of the page of bundles about proposals: the bundle that waits for people, and those that
// have waited.
type proposalsData struct {
	Waiting *proposalRow
	Over    []proposalRow
}

type proposalRow struct {
	Counter                                               uint64
	State, Look, Sign                                     string
	Created, Published, By, Signer, Digest, Given, Wanted string
	Ended                                                 string
	Votes                                                 []voteRow
	MayAgree, MayReject                                   bool
	Enough                                                bool // enough people have agreed, because the required number was lowered, or a person got the role back, after they agreed
	WhyNot, Contents                                      string
	Policy                                                []textLine
	More                                                  int // number of lines of the policy that are not shown
}

// proposalWords are the texts for people and the looks of the states.
var proposalWords = map[string]struct {
	word string
	look view.Look
}{
	store.ProposalWaits:     {"waits", view.Asked},
	store.ProposalActivated: {"put into force", view.Allowed},
	store.ProposalRejected:  {"rejected", view.Refused},
	store.ProposalReplaced:  {"replaced by a newer one", view.Plain},
}

// newProposals returns the bundles that wait for people, or have waited.
func (v *visit) newProposals() (d proposalsData, err error) {
	all, err := v.s.centre.Store.ListProposals(v.r.Context(), mostProposals)
	if err != nil {
		return d, err
	}
	for i := range all {
		row, err := v.newProposalRow(&all[i])
		if err != nil {
			return d, err
		}
		if all[i].State != store.ProposalWaits {
			d.Over = append(d.Over, row)
			continue
		}
		if err := v.addAnswers(&row, &all[i]); err != nil {
			return d, err
		}
		d.Waiting = &row
	}
	return d, nil
}

func (v *visit) newProposalRow(p *store.Proposal) (proposalRow, error) {
	word := proposalWords[p.State]
	row := proposalRow{
		Counter: p.Counter, State: word.word, Look: word.look.Word(), Sign: word.look.Mark(),
		Created: stampText(p.Created), Published: stampText(p.Published), By: p.By, Signer: p.Key, Digest: p.Digest,
	}
	if !p.Decided.IsZero() {
		row.Ended = stampText(p.Decided) + ", by " + p.DecidedBy
	}
	var voters centre.Voters
	if p.State == store.ProposalWaits {
		var err error
		if voters, err = v.s.centre.FindVoters(v.r.Context(), p); err != nil {
			return row, err
		}
		given, wanted := v.s.centre.CountAgreed(p, voters), v.s.centre.Settings.PeopleWanted()
		row.Given, row.Wanted, row.Enough = fmt.Sprintf("%d of %d", given, wanted), centre.PeopleText(wanted), given >= wanted
	}
	for i := range p.Votes {
		vote := &p.Votes[i]
		shown := voteRow{Who: vote.By.String(), Word: "rejected", Look: view.Refused.Word(), At: stampText(vote.At)}
		switch {
		case vote.Allow && p.State == store.ProposalWaits && !v.s.centre.Counts(p, vote, voters):
			shown.Word, shown.Look = "agreed, and has not the role any more", view.Plain.Word()
		case vote.Allow:
			shown.Word, shown.Look = "agreed", view.Allowed.Word()
		}
		row.Votes = append(row.Votes, shown)
	}
	return row, nil
}

// stampText returns a time as tables show it.
func stampText(t time.Time) string { return t.Format(time.DateTime) + " UTC" }

// addAnswers sets in the row what the person may do with a waiting bundle. For a person who may decide, it also adds
// the bundle's policy.
func (v *visit) addAnswers(row *proposalRow, p *store.Proposal) error {
	if !v.who.Has(admins...) {
		row.WhyNot = centre.ErrNoBundleRole.Error()
		return nil
	}
	row.MayReject = true
	voters, err := v.s.centre.FindVoters(v.r.Context(), p, v.who)
	if err != nil {
		return err
	}
	found, err := v.s.centre.Store.FindProposal(v.r.Context(), p.Counter)
	if err != nil {
		return err
	}
	b, _, err := v.s.centre.ReadSigned(found.Bytes)
	if err == nil {
		row.Contents = contentsText(&b)
		row.Policy = splitLines(string(b.Policy()))
		if row.More = len(row.Policy) - mostLines; row.More > 0 {
			row.Policy = row.Policy[:mostLines]
		}
		err = v.s.centre.MayAgree(p, v.who, voters)
	}
	if row.MayAgree = err == nil; err != nil {
		row.WhyNot = err.Error()
	}
	return nil
}

// contentsText returns a text with the numbers of packs and fixtures in a bundle.
func contentsText(b *bundle.Bundle) string {
	return fmt.Sprintf("policy.toml, packs: %d, fixtures: %d", len(b.Packs()), len(b.Fixtures()))
}

// answerBundle takes the answer of a person to a bundle that waits. beginVisit has checked that the form was made for
// this session.
func (v *visit) answerBundle(string) error {
	counter, err := strconv.ParseUint(v.form.Get("bundle"), 10, 53)
	if err != nil {
		return notFound
	}
	answer, digest := v.form.Get("answer"), v.form.Get("digest")
	switch answer {
	case "agree":
		_, err = v.s.centre.Agree(v.r.Context(), counter, digest, v.who)
	case "reject":
		_, err = v.s.centre.Reject(v.r.Context(), counter, digest, v.who)
	default:
		return refuse(http.StatusBadRequest, "The answer is neither agree nor reject.")
	}
	if err != nil {
		return explainBundle(err)
	}
	return v.goTo(bundlesPage)
}

// explainBundle returns the refusal that a person gets for an error of a bundle that waits.
func explainBundle(err error) error {
	text := func() string { return strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "." }
	for known, status := range map[error]int{
		centre.ErrBundleOver: http.StatusConflict, centre.ErrBundleOlder: http.StatusConflict, centre.ErrOtherBundle: http.StatusConflict, centre.ErrAgreed: http.StatusConflict,
		centre.ErrPublisher: http.StatusForbidden, centre.ErrNoBundleRole: http.StatusForbidden,
	} {
		if errors.Is(err, known) {
			return refuse(status, text())
		}
	}
	if _, ok := errors.AsType[*centre.BundleError](err); ok {
		return refuse(http.StatusConflict, "The bundle is not put into force: "+err.Error()+".")
	}
	if errors.Is(err, store.ErrNone) {
		return notFound
	}
	return err
}
