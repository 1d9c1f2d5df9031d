package courier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Courier exchanges data with the centre for this laptop.
type Courier struct {
	folders config.Folders
	joined  enrolment.Enrolment
	centre  *Centre
	shipper shipper
	again   bool // the next poll downloads the bundle even if the centre has no new one
}

// NewCourier returns the courier of this laptop. The error is enrolment.ErrNone if the laptop is
// not enrolled.
func NewCourier(folders config.Folders) (*Courier, error) {
	e, err := enrolment.ReadEnrolment(folders.State)
	if err != nil {
		return nil, err
	}
	if _, err := bundle.ParseKeys(e.BundleKeys); err != nil {
		return nil, err
	}
	c := &Courier{folders: folders, joined: e, centre: NewCentre(folders, e.URL, e.Token)}
	c.shipper = newShipper(folders.State, e.Since, c.centre)
	p, err := enrolment.ReadProgress(folders.State)
	c.again = err != nil || p.Refused != "" // this clawai may accept a bundle that an older version refused
	return c, nil
}

// URL returns the address of the centre.
func (c *Courier) URL() string { return c.joined.URL }

// Close closes idle connections to the centre.
func (c *Courier) Close() { c.centre.Close() }

// Poll asks the centre for the bundle, and puts a new bundle into force. It stores the result on
// disk and reports it to the centre. It returns an error if the centre cannot be reached or the
// disk fails. A refused bundle is not an error.
func (c *Courier) Poll(ctx context.Context) (a Active, err error) {
	unlock, err := enrolment.LockRound(ctx, c.folders.State)
	if err != nil {
		return a, err
	}
	defer unlock()
	a, restored, err := c.poll(ctx)
	if errors.Is(err, enrolment.ErrNone) || ctx.Err() != nil {
		return a, err
	}
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	if kept := enrolment.ChangeProgress(c.folders.State, func(p *enrolment.Progress) {
		p.Tried, p.Error = now(), failed
	}); kept != nil {
		return a, errors.Join(err, kept)
	}
	if err == nil {
		err = c.report(ctx, restored)
	}
	if refused, is := errors.AsType[*StatusError](err); is && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden) {
		// The centre does not know this laptop any more, so the laptop's owner has no roles there.
		err = errors.Join(err, enrolment.KeepIdentity(c.folders.State, nil, now()))
	}
	return a, err
}

// poll does the work of Poll, but does not report to the centre. restored is true if somebody had
// changed the rules on this laptop, and poll wrote them again.
func (c *Courier) poll(ctx context.Context) (a Active, restored bool, err error) {
	state := c.folders.State
	if !enrolment.IsEnrolled(state) {
		return a, false, enrolment.ErrNone
	}
	before, restored, err := restoreRules(state, c.joined.BundleKeys)
	if err != nil {
		return before.Active, false, err
	}
	p, err := enrolment.ReadProgress(state)
	if errors.Is(err, enrolment.ErrDamaged) {
		// The file is damaged, so the time of the last contact with the centre is lost. An offline
		// rule applies until the next contact.
		p = enrolment.Progress{Counter: before.Counter}
		err = enrolment.ReplaceProgress(state, p)
	}
	if err != nil {
		return before.Active, restored, err
	}
	a = before.Active
	a.Revision = p.Revision
	etag := p.ETag
	if c.again || before.src == nil && p.Refused == "" {
		etag = ""
	}
	got, err := c.centre.fetchBundle(ctx, etag)
	if err != nil {
		return a, restored, err
	}
	refused := p.Refused
	switch {
	case got.none:
		got.etag, refused = "", "" // the bundle in force stays, because the centre has no bundle
	case got.src != nil:
		next, err := activate(c.folders, got.src, c.joined.BundleKeys)
		no, is := errors.AsType[refusedError](err)
		switch {
		case is:
			refused = no.Error()
		case err != nil:
			return a, restored, fmt.Errorf("the bundle cannot be put into force: %w", err)
		default:
			a, refused = next, ""
		}
	}
	c.again = false
	return a, restored, enrolment.ChangeProgress(state, func(p *enrolment.Progress) {
		p.Reached, p.ETag, p.Refused = now(), got.etag, refused
		if p.Counter, p.Revision = a.Counter, a.Revision; a.New {
			p.Activated = p.Reached
		}
	})
}

// report sends a report about this laptop to the centre. The response contains the owner's
// identity, and report stores this identity.
func (c *Courier) report(ctx context.Context, restored bool) error {
	p, err := enrolment.ReadProgress(c.folders.State)
	if err != nil {
		return err
	}
	r := enrolment.Report{Revision: p.Revision, Counter: p.Counter, Version: cmdline.ReleaseVersion(), Error: p.Refused, Backlog: p.Backlog, Time: now()}
	switch {
	case restored && r.Error == "":
		r.Error = "the bundle's rules were changed on the laptop, and were written again"
	case p.ShipError != "" && r.Error == "":
		r.Error = p.ShipError
	}
	if r.Sessions, err = audit.CountRunning(base.RecordDir(c.folders.State)); err != nil {
		// If the record cannot be read, the report is sent all the same, with zero sessions. clawai
		// doctor already shows that the record cannot be read.
		r.Sessions = 0
	}
	told, err := c.centre.SendReport(ctx, r)
	if err != nil {
		return err
	}
	kept := enrolment.KeepIdentity(c.folders.State, told.Who, now())
	if kept == nil || errors.Is(kept, enrolment.ErrNone) {
		return nil
	}
	return enrolment.ChangeProgress(c.folders.State, func(p *enrolment.Progress) { p.Error = kept.Error() })
}

// SayGoodbye tells the centre that the laptop's owner has ended the enrolment.
func (c *Courier) SayGoodbye(ctx context.Context) error {
	p, err := enrolment.ReadProgress(c.folders.State)
	if err != nil {
		return err
	}
	_, err = c.centre.SendReport(ctx, enrolment.Report{Revision: p.Revision, Counter: p.Counter, Version: cmdline.ReleaseVersion(), Error: "the enrolment was ended on the laptop", Time: now()})
	return err
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
