package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

const enrolmentColumns = "device_hash, user_hash, name, os, version, address, created, expires, status, polled, waits, laptop, decided_by"

func readEnrolment(r scanner) (e store.Enrolment, err error) {
	var created, expires, polled, waits int64
	err = r.Scan(&e.DeviceHash, &e.UserHash, &e.Ask.Name, &e.Ask.OS, &e.Ask.Version, &e.Address, &created, &expires, &e.Status, &polled, &waits, &e.Laptop, &e.By)
	e.Created, e.Expires, e.Polled, e.Interval = fromNanos(created), fromNanos(expires), fromNanos(polled), time.Duration(waits)
	return e, err
}

// AddEnrolment implements store.Enrolments.
func (s *Store) AddEnrolment(ctx context.Context, e store.Enrolment, most int) error {
	return s.change(ctx, func(t *transaction) error {
		if _, err := t.exec("DELETE FROM enrolment WHERE org = ? AND expires <= ?", s.org, nanos(e.Created)); err != nil {
			return err
		}
		var waiting int
		if err := t.row("SELECT count(*) FROM enrolment WHERE org = ? AND status = ?", s.org, store.Pending).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= most {
			return store.ErrMany
		}
		_, err := t.exec("INSERT INTO enrolment (org, "+enrolmentColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, '', '')",
			s.org, e.DeviceHash, e.UserHash, e.Ask.Name, e.Ask.OS, e.Ask.Version, e.Address, nanos(e.Created), nanos(e.Expires), store.Pending, int64(e.Interval))
		return err
	})
}

// FindEnrolment implements store.Enrolments.
func (s *Store) FindEnrolment(ctx context.Context, userHash string) (store.Enrolment, error) {
	e, err := readEnrolment(s.row(ctx, "SELECT "+enrolmentColumns+" FROM enrolment WHERE org = ? AND user_hash = ?", s.org, userHash))
	return e, explain(err)
}

// DecideEnrolment implements store.Enrolments.
func (s *Store) DecideEnrolment(ctx context.Context, userHash, status string, by principal.Principal) error {
	decider, err := json.Marshal(by)
	if err != nil {
		return err
	}
	err = s.execOne(ctx, "UPDATE enrolment SET status = ?, decided_by = ?, decider = ? WHERE org = ? AND user_hash = ? AND status = ?",
		status, by.String(), string(decider), s.org, userHash, store.Pending)
	if err == store.ErrNone { //nolint:errorlint // execOne returns this error without a wrapper
		return store.ErrTwice
	}
	return err
}

// PollEnrolment implements store.Enrolments.
func (s *Store) PollEnrolment(ctx context.Context, deviceHash string, change func(*store.Enrolment)) (before store.Enrolment, err error) {
	err = s.change(ctx, func(t *transaction) error {
		before, err = readEnrolment(t.row("SELECT "+enrolmentColumns+" FROM enrolment WHERE org = ? AND device_hash = ?"+s.d.lock, s.org, deviceHash))
		if err != nil {
			return err
		}
		after := before
		change(&after)
		_, err := t.exec("UPDATE enrolment SET polled = ?, waits = ? WHERE org = ? AND device_hash = ?", nanos(after.Polled), int64(after.Interval), s.org, deviceHash)
		return err
	})
	return before, err
}

// AddLaptop implements store.Enrolments.
func (s *Store) AddLaptop(ctx context.Context, deviceHash string, l store.Laptop, tokenHash string) (id string, err error) {
	err = s.change(ctx, func(t *transaction) error {
		e, err := readEnrolment(t.row("SELECT "+enrolmentColumns+" FROM enrolment WHERE org = ? AND device_hash = ?"+s.d.lock, s.org, deviceHash))
		if err != nil {
			return err
		}
		if e.Status != store.Allowed {
			return store.ErrTwice
		}
		if e.Laptop != "" {
			n, err := t.exec("UPDATE laptop SET token_hash = ? WHERE org = ? AND id = ? AND seen = 0 AND revoked = 0", tokenHash, s.org, e.Laptop)
			if err == nil && n == 0 {
				err = store.ErrTwice
			}
			id = e.Laptop
			return err
		}
		owner := store.Owner{Seen: l.Enrolled}
		var decider string
		if err := t.row("SELECT decider FROM enrolment WHERE org = ? AND device_hash = ?", s.org, deviceHash).Scan(&decider); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(decider), &owner.Principal); err != nil {
			return err
		}
		kept, err := json.Marshal(owner)
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO laptop (org, id, token_hash, name, os, version, enrolled, enrolled_by, owner_key, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.org, l.ID, tokenHash, e.Ask.Name, e.Ask.OS, e.Ask.Version, nanos(l.Enrolled), e.By, owner.Key(), string(kept)); err != nil {
			return err
		}
		id = l.ID
		_, err = t.exec("UPDATE enrolment SET laptop = ? WHERE org = ? AND device_hash = ?", l.ID, s.org, deviceHash)
		return err
	})
	return id, err
}

const laptopColumns = "id, name, os, version, enrolled, enrolled_by, revoked, seen, report, shipped, bytes, records, findings, owner, revoked_by"

func readLaptop(r scanner, more ...any) (l store.Laptop, err error) {
	var enrolled, revoked, seen, shipped int64
	var report, owner string
	err = r.Scan(append([]any{&l.ID, &l.Name, &l.OS, &l.Version, &enrolled, &l.By, &revoked, &seen, &report, &shipped, &l.Bytes, &l.Records, &l.Findings, &owner, &l.RevokedBy}, more...)...)
	l.Enrolled, l.Revoked, l.Seen, l.Shipped = fromNanos(enrolled), fromNanos(revoked), fromNanos(seen), fromNanos(shipped)
	if err == nil {
		err = json.Unmarshal([]byte(report), &l.Report)
	}
	if err == nil {
		err = json.Unmarshal([]byte(owner), &l.Owner)
	}
	return l, err
}

// FindLaptop implements store.Laptops.
func (s *Store) FindLaptop(ctx context.Context, id string) (l store.Laptop, tokenHash string, err error) {
	l, err = readLaptop(s.row(ctx, "SELECT "+laptopColumns+", token_hash FROM laptop WHERE org = ? AND id = ?", s.org, id), &tokenHash)
	return l, tokenHash, explain(err)
}

// ListLaptops implements store.Laptops.
func (s *Store) ListLaptops(ctx context.Context) ([]store.Laptop, error) {
	return list(ctx, s, func(r scanner) (store.Laptop, error) { return readLaptop(r) }, "SELECT "+laptopColumns+" FROM laptop WHERE org = ? ORDER BY name, id", s.org)
}

// RevokeLaptop implements store.Laptops.
func (s *Store) RevokeLaptop(ctx context.Context, id, by string, now time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		var revoked int64
		if err := t.row("SELECT revoked FROM laptop WHERE org = ? AND id = ?"+s.d.lock, s.org, id).Scan(&revoked); err != nil {
			return err
		}
		if revoked != 0 {
			return store.ErrTwice
		}
		_, err := t.exec("UPDATE laptop SET revoked = ?, revoked_by = ?, token_hash = '' WHERE org = ? AND id = ?", nanos(now), by, s.org, id)
		return err
	})
}

// touched is the minimum time between two stored times of a laptop's last request.
const touched = 10 * time.Second

// TouchLaptop implements store.Laptops.
func (s *Store) TouchLaptop(ctx context.Context, id string, now time.Time) error {
	err := s.execOne(ctx, "UPDATE laptop SET seen = ? WHERE org = ? AND id = ? AND seen < ?", nanos(now), s.org, id, nanos(now.Add(-touched)))
	if err == store.ErrNone { //nolint:errorlint // execOne returns this error without a wrapper
		return nil
	}
	return err
}

// AddReport implements store.Laptops.
func (s *Store) AddReport(ctx context.Context, id string, r enrolment.Report, now time.Time) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.execOne(ctx, "UPDATE laptop SET report = ?, version = ?, seen = ? WHERE org = ? AND id = ?", string(text), r.Version, nanos(now), s.org, id)
}
