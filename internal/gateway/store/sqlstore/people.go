package sqlstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
)

// AddLink implements store.People.
func (s *Store) AddLink(ctx context.Context, hash, who string, expires time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		if _, err := t.exec("DELETE FROM link WHERE org = ? AND who = ?", s.org, who); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO link (org, hash, who, expires) VALUES (?, ?, ?, ?)", s.org, hash, who, nanos(expires))
		return err
	})
}

// UseLink implements store.People.
func (s *Store) UseLink(ctx context.Context, hash, session string, now, expires time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		var who string
		if err := t.row("SELECT who FROM link WHERE org = ? AND hash = ? AND expires > ?"+s.d.lock, s.org, hash, nanos(now)).Scan(&who); err != nil {
			return err
		}
		if n, err := t.exec("DELETE FROM link WHERE org = ? AND hash = ?", s.org, hash); err != nil || n == 0 {
			if err == nil {
				err = store.ErrNone
			}
			return err
		}
		return t.addSession(s.org, session, principal.Principal{Issuer: principal.Local, Subject: who, Name: who, GroupsKnown: true}, now, expires)
	})
}

// addSession adds a session, and removes all expired sessions.
func (t *transaction) addSession(org, hash string, p principal.Principal, now, expires time.Time) error {
	person, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM signed_in WHERE org = ? AND expires <= ?", org, nanos(now)); err != nil {
		return err
	}
	_, err = t.exec("INSERT INTO signed_in (org, hash, who, expires, person) VALUES (?, ?, ?, ?, ?)", org, hash, p.Key(), nanos(expires), string(person))
	return err
}

// AddSession implements store.People.
func (s *Store) AddSession(ctx context.Context, hash string, p principal.Principal, now, expires time.Time) error {
	owner, err := json.Marshal(store.Owner{Principal: p, Seen: now})
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *transaction) error {
		if err := t.addSession(s.org, hash, p, now, expires); err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO person (org, who, email, person) VALUES (?, ?, ?, ?) ON CONFLICT (org, who) DO UPDATE SET email = excluded.email, person = excluded.person",
			s.org, p.Key(), strings.ToLower(p.Email), string(owner)); err != nil {
			return err
		}
		_, err := t.exec("UPDATE laptop SET owner = ? WHERE org = ? AND owner_key = ?", string(owner), s.org, p.Key())
		return err
	})
}

// FindSession implements store.People.
func (s *Store) FindSession(ctx context.Context, hash string, now time.Time) (p principal.Principal, expires time.Time, err error) {
	var person string
	var ends int64
	if err := s.row(ctx, "SELECT person, expires FROM signed_in WHERE org = ? AND hash = ? AND expires > ?", s.org, hash, nanos(now)).Scan(&person, &ends); err != nil {
		return p, expires, explain(err)
	}
	err = json.Unmarshal([]byte(person), &p)
	return p, fromNanos(ends), err
}

// ListPeople implements store.People.
func (s *Store) ListPeople(ctx context.Context, name string) ([]store.Owner, error) {
	which := "email = ?"
	if strings.Contains(name, "#") {
		which = "who = ?"
	} else if name = strings.ToLower(name); name == "" {
		return nil, nil
	}
	return list(ctx, s, func(r scanner) (o store.Owner, err error) {
		var person string
		if err = r.Scan(&person); err == nil {
			err = json.Unmarshal([]byte(person), &o)
		}
		return o, err
	}, "SELECT person FROM person WHERE org = ? AND "+which+" ORDER BY who", s.org, name)
}

// EndSession implements store.People.
func (s *Store) EndSession(ctx context.Context, hash string) error {
	return s.execOne(ctx, "DELETE FROM signed_in WHERE org = ? AND hash = ?", s.org, hash)
}
