// Package store defines what the team's centre keeps, and the interface to it: laptops and their
// enrolment, bundles, the record's segments with an index of their records, questions, and sessions of
// people. Package sqlstore implements it with a database. Several organisations can share a database; a
// Store belongs to one of them.
package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Errors of a Store.
var (
	ErrNone     = errors.New("there is none")
	ErrOlder    = errors.New("the bundle's counter is not higher than those of the bundles before")
	ErrMany     = errors.New("too many laptops wait to be enrolled")
	ErrTwice    = errors.New("that was decided before")
	ErrNewer    = errors.New("a newer clawai-gateway made this database; install that one")
	ErrLocked   = errors.New("another program keeps the database locked")
	ErrReadOnly = errors.New("the database can only be read, as on a standby; name the server that takes changes in gateway.toml, or add target_session_attrs=read-write to an address with several hosts")
	ErrClock    = errors.New("the clocks are too far apart for several centres")
)

// Store keeps all data of one organisation. It is safe for concurrent use.
type Store interface {
	Enrolments
	Laptops
	Bundles
	Proposals
	Segments
	Records
	Questions
	Deliveries
	People
	Checkpoints
	Keys
	News
	Workloads
	// Check reads the whole database and writes to it, and returns an error if something is wrong with it.
	Check(ctx context.Context) error
	// CheckReady returns why this centre should not serve people and laptops beside others now: a newer program has
	// changed the schema, nothing can be changed, or the clock is another one than the database's.
	CheckReady(ctx context.Context, now func() time.Time) error
	// KeepMark returns the mark of the key with which all secrets of the database are hashed. If there is none
	// yet, it keeps the given one; 0 is none.
	KeepMark(ctx context.Context, mark int64) (kept int64, err error)
	// SetTimer lets f be told of each access, "read" or "change", and its time. It is called before the
	// store is used.
	SetTimer(f func(operation string, took time.Duration))
	Close() error
}

// The states of an Enrolment.
const (
	Pending = "pending"
	Allowed = "allowed"
	Denied  = "denied"
)

// Enrolment is a laptop's request to be enrolled. It has only keyed hashes of the request's two codes.
type Enrolment struct {
	DeviceHash, UserHash string
	Ask                  enrolment.AskEnrolment
	Address              string // network address from which it came
	Created, Expires     time.Time
	Status               string
	Polled               time.Time // when the laptop last asked for the decision
	Interval             time.Duration
	Laptop               string // id of the laptop; "" before it got a token
	By                   string // name and key of the person who decided
}

// Enrolments keeps requests to be enrolled until they expire.
type Enrolments interface {
	// AddEnrolment adds a request, and removes those that expired before e.Created. ErrMany: the number of
	// pending requests has reached most.
	AddEnrolment(ctx context.Context, e Enrolment, most int) error
	// FindEnrolment returns the request with a user code; ErrNone if there is none.
	FindEnrolment(ctx context.Context, userHash string) (Enrolment, error)
	// DecideEnrolment changes a pending request to Allowed or Denied. The person who allows it becomes the
	// owner of the laptop. ErrTwice: it is not pending.
	DecideEnrolment(ctx context.Context, userHash, status string, by principal.Principal) error
	// PollEnrolment returns the request with a device code as it was before this poll, and stores Polled and
	// Interval as change sets them.
	PollEnrolment(ctx context.Context, deviceHash string, change func(*Enrolment)) (Enrolment, error)
	// AddLaptop adds the laptop of an allowed request. If it was added before and has never used its token,
	// the laptop gets the new token, because the answer with the old one may have been lost. ErrTwice: it
	// has used its token, or the request is not allowed.
	AddLaptop(ctx context.Context, deviceHash string, l Laptop, tokenHash string) (id string, err error)
}

// Laptop is an enrolled laptop. Zero times mean never.
type Laptop struct {
	ID, Name, OS, Version string
	Enrolled              time.Time
	By                    string // who allowed it
	Owner                 Owner
	Revoked               time.Time // its token is refused since then
	RevokedBy             string
	Seen                  time.Time // when it last asked for anything
	Report                enrolment.Report
	Shipped               time.Time // when bytes of its record last came
	Bytes, Records        int64     // of its record
	Findings              int       // number of findings in its record that prove a change
}

// Owner is the person to whom a laptop belongs, with the data of their last sign-in. The zero value means
// that there is no owner: the laptop was enrolled by an older version of the centre.
type Owner struct {
	principal.Principal // without roles
	Seen                time.Time
}

// Laptops keeps laptops.
type Laptops interface {
	// FindLaptop returns a laptop and the keyed hash of its token; ErrNone if there is none.
	FindLaptop(ctx context.Context, id string) (l Laptop, tokenHash string, err error)
	ListLaptops(ctx context.Context) ([]Laptop, error)
	// RevokeLaptop ends the token of a laptop. ErrNone: there is none. ErrTwice: it was revoked before.
	RevokeLaptop(ctx context.Context, id, by string, now time.Time) error
	// TouchLaptop sets the time of a laptop's last request (Seen), unless a later one is set.
	TouchLaptop(ctx context.Context, id string, now time.Time) error
	AddReport(ctx context.Context, id string, r enrolment.Report, now time.Time) error
}

// Bundle is a published bundle with its signature.
type Bundle struct {
	Counter   uint64
	Digest    string // SHA-256 of Bytes, 64 hexadecimal digits
	Created   time.Time
	Published time.Time
	Key       string // name of the key that signed it
	By        string // who published it; "" if the bundle is older than this field
	Bytes     []byte
}

// Bundles keeps the bundles that were put into force. The newest one is in force.
type Bundles interface {
	// AddBundle adds a bundle, and replaces a proposal that waits. ErrOlder: its counter is not higher than that of
	// every bundle and every proposal.
	AddBundle(ctx context.Context, b Bundle) error
	// FindNewestBundle returns the newest bundle; ErrNone if there is none.
	FindNewestBundle(ctx context.Context) (Bundle, error)
	// FindBundle returns the bundle with a counter; ErrNone if there is none.
	FindBundle(ctx context.Context, counter uint64) (Bundle, error)
	// FindBundleBefore returns the newest bundle with a lower counter; ErrNone if there is none.
	FindBundleBefore(ctx context.Context, counter uint64) (Bundle, error)
	// ListBundles returns the newest bundles without their bytes, the newest first.
	ListBundles(ctx context.Context, most int) ([]Bundle, error)
}

// Segment is the state of one segment of a laptop's record. It has not the segment's bytes.
type Segment struct {
	Laptop, Session, Name string
	Size                  int64 // in bytes
	Complete              bool  // the laptop has said that the segment ends here
	Arrival               audit.Arrival
	Sum                   string // state of the SHA-256 of the bytes so far, in base64; "" if the segment is older than this field
	Changed               time.Time
}

// Extension is a new part of a segment, with the segment's new state and the records and findings in
// the part.
type Extension struct {
	Part     []byte // bytes to append to the segment; may be empty
	Segment  Segment
	Records  []Record
	Findings []Finding
}

// Holding is a segment inside the transaction that may extend it. While the transaction runs, its user
// must not call other methods of the Store: all connections may be taken by callers that wait for this
// transaction.
type Holding interface {
	// Segment returns the segment before it is extended. Size is 0 for a new segment.
	Segment() Segment
	// ReadHeld returns stored bytes of the segment from an offset on. most is the maximum number of bytes.
	ReadHeld(from int64, most int) ([]byte, error)
	// ListSession returns the other segments of the session, by name.
	ListSession() ([]Segment, error)
	// CountSegments returns the number of stored segments of the laptop, and of the session.
	CountSegments() (all, ofSession int, err error)
	// CountFindings returns the number of stored findings of the laptop, and the number of notes among them.
	CountFindings() (all, notes int, err error)
}

// Segments keeps the bytes of records.
type Segments interface {
	// FindSegment returns a segment; ErrNone if there is none.
	FindSegment(ctx context.Context, laptop, name string) (Segment, error)
	// ExtendSegment calls extend and stores the result in the same transaction. No other call extends the
	// segment at that time. If extend returns an error, nothing is stored.
	ExtendSegment(ctx context.Context, laptop, session, name string, extend func(Holding) (Extension, error)) error
	// ListChangedSegments returns segments of a laptop that changed since a time, in the order of session and
	// name. A name begins with the time at which the segment begins. session and name are those of the last
	// segment of the page before.
	ListChangedSegments(ctx context.Context, laptop string, since time.Time, session, name string, most int) ([]Segment, error)
	// ReadSegment returns bytes of a segment.
	ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error)
}

// Finding is one fault that the check of a segment's chain of digests found.
type Finding struct {
	Laptop, Segment string
	Line            int // 0: the whole segment
	What            string
	Note            bool // the fault does not prove that somebody changed the record
	Found           time.Time
}

// Look says in one word how a call ended, as the pages of clawai show it.
type Look string

// The looks of a Record. A record that is no decision has "".
const (
	LookAllowed Look = "allowed"
	LookAsked   Look = "asked"
	LookRefused Look = "refused"
)

// Record is the index entry of one record. The line itself is in the segment. The texts come from the
// laptop, so none of them is trusted.
type Record struct {
	ID              int64 // in the database
	Laptop, Session string
	Seq             uint64
	Time            time.Time // by the laptop's clock
	Kind            string
	Look            Look
	Server          string
	Subject, Name   string // of the call: what kind of thing, and its first name
	Method          string
	About           string // the argument by which a person knows the call
	Code, Reason    string
	Rule, RuleText  string // place and description of the rule that decided
	Ref             string // the record that this one belongs to
	Segment         string
	Offset          int64
	Length          int
}

// Query selects records; zero fields select all.
type Query struct {
	Laptop, Session, Server, Tool, Kind, Rule string
	Look                                      Look
	NamesOnly                                 bool      // Tool is compared only with names of tools and prompts, and with methods
	Since, Until                              time.Time // Until is excluded
	Before                                    Place     // only records that come after this place in the list
	Most                                      int       // maximum number of records
}

// Place is a place in the list of records, the newest first.
type Place struct {
	Time time.Time
	ID   int64
}

// Sum is the number of calls with one look in one hour, of one laptop and tool. Each query says which
// fields it sets.
type Sum struct {
	Hour         time.Time
	Laptop       string
	Server, Tool string
	Look         Look
	N            int
	Of           int // set by CountTools: the number of the tool's calls with any look
}

// Records finds records.
type Records interface {
	// ListRecords returns records, the newest first.
	ListRecords(ctx context.Context, q Query) ([]Record, error)
	FindRecord(ctx context.Context, id int64) (Record, error)
	// ListNeighbours returns the records of a session whose numbers are from low to high, in order.
	ListNeighbours(ctx context.Context, laptop, session string, low, high uint64) ([]Record, error)
	// CountHours returns the calls since a time by hour and look; only Hour, Look and N are set.
	CountHours(ctx context.Context, since time.Time) ([]Sum, error)
	// CountTools returns the tools with the most calls of a look since a time.
	CountTools(ctx context.Context, look Look, since time.Time, most int) ([]Sum, error)
	// ListFindings returns findings, the newest first; notes come after all others. "" means all laptops,
	// or all segments.
	ListFindings(ctx context.Context, laptop, segment string, most int) ([]Finding, error)
}

// Errors of a Question that changes.
var (
	ErrOver  = errors.New("the question is answered or over")
	ErrFull  = errors.New("so much is kept of this laptop that no more is taken")
	ErrVoted = errors.New("this person has answered it before")
)

// Question is a laptop's question to the approvers of a rule. All times are by the centre's clock.
type Question struct {
	ID, Laptop string
	Asked      enrolment.AskQuestion
	Title      string // the call in one line without control characters; it may contain arguments
	Created    time.Time
	Held       time.Time // until then the call itself waits; a later approval is for the next call with the same digest
	Expires    time.Time // when the question expires; once it is approved: when the approval expires
	State      string    // the stored state, which may have expired; see StateAt
	Decided    time.Time
	Votes      []Vote // in the order in which they came
}

// Vote is the answer of one person.
type Vote struct {
	By    principal.Principal
	Allow bool
	Words string
	At    time.Time
	Way   string // how it came: page, command line or Slack; "" if the vote is older than this field
}

// maxStep is how far a clock may be set back before an open question counts as expired.
const maxStep = time.Minute

// IsOpen reports whether a question waits at a time, or its approval can be used. An expired question is
// not open, whatever its stored state. A question or approval whose beginning is in the future is not open
// either: a clock that was set back must not lengthen its life.
func (q *Question) IsOpen(now time.Time) bool {
	begun := q.Created
	if q.Decided.After(begun) {
		begun = q.Decided
	}
	return (q.State == enrolment.QuestionPending || q.State == enrolment.QuestionApproved) && now.Before(q.Expires) && !now.Add(maxStep).Before(begun)
}

// StateAt returns the state at a time.
func (q *Question) StateAt(now time.Time) string {
	if (q.State == enrolment.QuestionPending || q.State == enrolment.QuestionApproved) && !q.IsOpen(now) {
		return enrolment.QuestionExpired
	}
	return q.State
}

// Given returns the number of people who allowed it.
func (q *Question) Given() (n int) {
	for i := range q.Votes {
		if q.Votes[i].Allow {
			n++
		}
	}
	return n
}

// AddVote adds the answer of one person. One denial ends the question. An approval needs as many people as
// the rule says (Asked.Approvals), and lives for kept. Until it is used, one denial ends it; also a person
// who allowed the call can deny it.
func (q *Question) AddVote(v Vote, kept time.Duration) error {
	if !q.IsOpen(v.At) || v.Allow && q.State != enrolment.QuestionPending {
		return ErrOver
	}
	same := func(other Vote) bool { return other.By.IsSame(v.By) }
	if v.Allow && slices.ContainsFunc(q.Votes, same) {
		return ErrVoted
	}
	q.Votes = append(slices.DeleteFunc(q.Votes, same), v)
	switch {
	case !v.Allow:
		q.State, q.Decided = enrolment.QuestionDenied, v.At
	case q.Given() >= q.Asked.Approvals:
		q.State, q.Decided, q.Expires = enrolment.QuestionApproved, v.At, v.At.Add(kept)
	}
	return nil
}

// Use uses up an approval.
func (q *Question) Use(now time.Time) error {
	if q.StateAt(now) != enrolment.QuestionApproved {
		return ErrOver
	}
	q.State = enrolment.QuestionUsed
	return nil
}

// Cancel ends a question whose call does not wait any more.
func (q *Question) Cancel(now time.Time) error {
	if !q.IsOpen(now) {
		return ErrOver
	}
	q.State = enrolment.QuestionCancelled
	return nil
}

// Questions keeps questions and their votes.
type Questions interface {
	// AddQuestion adds a question. If a question of the same laptop, digest and approvers is pending or
	// approved at the time q.Created, it returns that one instead, with Held set to q.Held. ErrMany: the number
	// of the laptop's pending questions has reached most. ErrFull: with this one, the laptop's questions would
	// have more than kept bytes.
	AddQuestion(ctx context.Context, q Question, most int, kept int64) (Question, error)
	// FindQuestion returns a question; ErrNone if there is none.
	FindQuestion(ctx context.Context, id string) (Question, error)
	// ListPending returns questions that are pending at a time, the oldest first. It begins after the question
	// in behind, or with the oldest one if behind is the zero value.
	ListPending(ctx context.Context, now time.Time, behind Question, most int) ([]Question, error)
	// ListQuestions returns questions made since a time, the newest first.
	ListQuestions(ctx context.Context, since time.Time, most int) ([]Question, error)
	// CountPending returns how many questions are pending at a time.
	CountPending(ctx context.Context, now time.Time) (int, error)
	// ChangeQuestion changes a question; no other call changes it at that time. change may set Votes, State,
	// Decided, Held and Expires. If change returns an error, nothing is stored.
	ChangeQuestion(ctx context.Context, id string, change func(*Question) error) (Question, error)
	// RemoveQuestions removes the questions that were made before a time.
	RemoveQuestions(ctx context.Context, before time.Time) error
}

// Delivery is the state of the messages about one question on one way out of the centre (message.Way).
type Delivery struct {
	Question, Way string
	Reference     string // identifies the message at the service, for updates; "" for none
	Told          string // state of the question in the last message; "" if none was sent
	Open          bool   // a message may still have to be sent
	Tries         int    // number of failures in a row
	Next          time.Time
}

// Deliveries keeps the state of messages about questions.
type Deliveries interface {
	// FindDelivery returns the delivery of a question on a way; ErrNone if there is none.
	FindDelivery(ctx context.Context, question, way string) (Delivery, error)
	// ReplaceDelivery keeps d if what is kept is still as it was found, or nothing is. ErrTwice: another centre
	// was faster.
	ReplaceDelivery(ctx context.Context, found, d Delivery) error
	// ListOpen returns the open deliveries of a way, that of the oldest question first.
	ListOpen(ctx context.Context, way string) ([]Delivery, error)
}

// People keeps links and sessions of people. It has only keyed hashes of links and sessions, and no roles
// of people.
type People interface {
	// AddLink adds a link that signs a local person in once. It removes all other links of that person.
	AddLink(ctx context.Context, hash, who string, expires time.Time) error
	// UseLink replaces a link by a session. ErrNone: there is no such link, or it was used or has expired.
	UseLink(ctx context.Context, hash, session string, now, expires time.Time) error
	// AddSession adds a session of a person. It also stores the person, with their groups, as the owner of
	// their laptops.
	AddSession(ctx context.Context, hash string, p principal.Principal, now, expires time.Time) error
	// FindSession returns the person of a session, and when it ends; ErrNone if there is none or it has expired.
	FindSession(ctx context.Context, hash string, now time.Time) (p principal.Principal, expires time.Time, err error)
	EndSession(ctx context.Context, hash string) error
	// ListPeople returns the people who have signed in with a name, as they were at their last sign-in. The
	// name is a person's key (ISSUER#SUBJECT) or, without "#", an e-mail address that the provider has verified.
	ListPeople(ctx context.Context, name string) ([]Owner, error)
}
