package queue

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// columns are the columns of a Request, in the order of rowValues and scanRow.
const columns = `id, status, created_at, deadline_at, session, server, client, project,
	call_server, method, subject, names, arguments, malformed, more_calls, digest,
	rule_action, rule_file, rule_line, rule_column, rule_index, rule,
	policy_revision, reason, findings, risk, lasting, offers, no_offer,
	decided_at, decided_by, reply, scope, rung, note, outcome`

// rowValues returns the values of r for the database. r has at least one call.
func rowValues(r *Request) ([]any, error) {
	first := &r.Calls[0]
	names, err1 := packList(toTexts(first.Names))
	more, err2 := packMore(r.Calls)
	offers, err3 := packOffers(r.Offers)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	digest := ""
	if r.Digest != [32]byte{} {
		digest = hex.EncodeToString(r.Digest[:])
	}
	return []any{r.ID, string(r.Status), packTime(r.Created), packTime(r.Deadline), r.Session, r.Server, r.Client, r.Project,
		first.Server, first.Method, packSubject(first.Subject), names, packBytes(first.Args), first.Malformed, more, digest,
		r.Rule.Action.String(), r.Rule.Pos.File, r.Rule.Pos.Line, r.Rule.Pos.Column, r.Rule.Index, r.Rule.Description,
		r.Revision, r.Reason, packBytes(r.Findings), r.Risk, r.Lasting, offers, r.NoOffer,
		packTime(r.Decided), r.Answer.By, packReply(r), r.Answer.Scope, r.Answer.Channel, r.Answer.Words, r.Outcome}, nil
}

// scanRow reads one row. A value that this version does not know is read as a deny; a newer
// clawai or a person may have written it. A row that cannot be decoded becomes a Request with
// Damage, so that the other rows can still be read. scanRow returns an error only if reading
// itself fails.
func scanRow(row interface{ Scan(...any) error }) (Request, error) {
	var (
		r                                           Request
		first                                       policy.Call
		created, deadline, decided, subject, action string
		status, digest, reply                       string
		named, args, more, findings, offers         sql.NullString
	)
	const unread = "\x00"
	r.ID = unread
	err := row.Scan(&r.ID, &status, &created, &deadline, &r.Session, &r.Server, &r.Client, &r.Project,
		&first.Server, &first.Method, &subject, &named, &args, &first.Malformed, &more, &digest,
		&action, &r.Rule.Pos.File, &r.Rule.Pos.Line, &r.Rule.Pos.Column, &r.Rule.Index, &r.Rule.Description,
		&r.Revision, &r.Reason, &findings, &r.Risk, &r.Lasting, &offers, &r.NoOffer,
		&decided, &r.Answer.By, &reply, &r.Answer.Scope, &r.Answer.Channel, &r.Answer.Words, &r.Outcome)
	if err != nil && r.ID == unread { // not even the first column was read, so there is no row
		return Request{}, err
	}
	if err == nil && !isIDPrefix(r.ID) {
		err = errors.New("its id is gone, so nobody can answer it; it denies by itself within seconds")
	}
	r.Created, r.Deadline, r.Decided = unpackTime(created), unpackTime(deadline), unpackTime(decided)
	r.Rule.Action, _ = policy.ParseAction(action) // an unknown action is read as deny
	first.Subject = unpackSubject(subject)
	first.Args, r.Findings = unpackBytes(args), unpackBytes(findings)
	first.Names = toStrings(unpackList[[]text](named, &err))
	extra, others := unpackMore(more, &err)
	first.Extra = extra
	r.Calls = append([]policy.Call{first}, others...)
	r.Offers = unpackOffers(offers, &err)
	if err != nil {
		// Leave out the whole call, so that no person takes a part for the whole.
		r.Calls, r.Offers, r.Lasting, r.Damage = nil, nil, false, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if n, _ := hex.Decode(r.Digest[:], []byte(digest)); n != len(r.Digest) {
		r.Digest = [32]byte{}
	}
	r.Status, r.Answer.Reply = unpackStatus(status, reply)
	return r, nil
}

// packReply returns the answer of a request as text for its column; "" if the request has no
// answer.
func packReply(r *Request) string {
	if r.Status != Approved && r.Status != Denied {
		return ""
	}
	return r.Answer.Reply.String()
}

func unpackStatus(status, reply string) (Status, gate.Reply) {
	said := gate.DenyOnce
	for r := gate.DenyOnce; r <= gate.DenyAlways; r++ {
		if r.String() == reply {
			said = r
		}
	}
	switch s := Status(status); s {
	case Pending, Expired:
		return s, gate.DenyOnce
	case Approved:
		if said.Allows() {
			return s, said
		}
	case Denied:
		if !said.Allows() {
			return s, said
		}
	}
	return Denied, gate.DenyOnce
}

// clock is the format of stored times. All times have the same length, so that their texts sort by
// time.
const clock = "2006-01-02T15:04:05.000000000Z"

func packTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(clock)
}

func unpackTime(s string) time.Time {
	t, _ := time.Parse(clock, s) // an invalid text gives the zero time
	return t
}

// packBytes returns the value of b for a column; nil becomes NULL. The bytes stay unchanged, even
// if they are not UTF-8.
func packBytes(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func unpackBytes(s sql.NullString) []byte {
	if !s.Valid {
		return nil
	}
	return []byte(s.String)
}

func packSubject(s policy.Subject) string {
	if key := s.RuleKey(); key != "" {
		return key
	}
	return strconv.Itoa(int(s))
}

func unpackSubject(s string) policy.Subject {
	if subject := policy.SubjectOf(s); subject != policy.NoSubject {
		return subject
	}
	n, _ := strconv.ParseUint(s, 10, 8)
	return policy.Subject(n)
}
