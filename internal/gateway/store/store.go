// Package store says what the team's centre keeps, and by which door: laptops and their enrolment,
// bundles, the record's segments with an index of their records, and who is signed in. Package
// sqlstore keeps it in a database. Every key has the organisation in front; a Store is one
// organisation's.
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
	ErrNone   = errors.New("there is none")
	ErrOlder  = errors.New("the bundle's counter is not higher than that of the newest bundle")
	ErrMany   = errors.New("too many laptops wait to be enrolled")
	ErrTwice  = errors.New("that was decided before")
	ErrNewer  = errors.New("a newer clawai-gateway made this database; install that one")
	ErrLocked = errors.New("another program keeps the database locked")
	ErrFixed  = errors.New("the database can be read alone, as on a standby; name the server that takes changes in gateway.toml, or add target_session_attrs=read-write to an address with several hosts")
	ErrClock  = errors.New("the clocks are too far apart for several centres")
)

// Store keeps everything. It is safe for concurrent use.
type Store interface {
	Enrolments
	Laptops
	Bundles
	Segments
	Records
	Questions
	Deliveries
	People
	Checkpoints
	Keys
	News
	// Check reads the whole database and writes to it, and returns what is wrong with it.
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

// Enrolment is a laptop's wish to be enrolled. Of both codes only keyed hashes are kept.
type Enrolment struct {
	DeviceHash, UserHash string
	Ask                  enrolment.AskEnrolment
	Address              string // of the network, from which it came
	Created, Expires     time.Time
	Status               string
	Polled               time.Time // when the laptop asked last
	Interval             time.Duration
	Laptop               string // once a token was given: the laptop's id
	By                   string // who decided
}

// Enrolments keeps wishes to be enrolled until they expire.
type Enrolments interface {
	// AddEnrolment adds a wish, and removes those that expired before Created. ErrMany: as many as most
	// are waiting.
	AddEnrolment(ctx context.Context, e Enrolment, most int) error
	// FindEnrolment returns the wish of a user code; ErrNone if there is none.
	FindEnrolment(ctx context.Context, userHash string) (Enrolment, error)
	// DecideEnrolment changes a pending wish to Allowed or Denied. Whoever allows it becomes the owner of
	// the laptop. ErrTwice: it is not pending.
	DecideEnrolment(ctx context.Context, userHash, status string, by principal.Principal) error
	// PollEnrolment returns the wish of a device code as it was before this poll, and keeps the time and
	// interval of the poll.
	PollEnrolment(ctx context.Context, deviceHash string, change func(*Enrolment)) (Enrolment, error)
	// AddLaptop makes a laptop of an allowed wish, or gives its laptop another token if that one has
	// never used its own: the answer with the token may have been lost. ErrTwice: it has.
	AddLaptop(ctx context.Context, deviceHash string, l Laptop, tokenHash string) (id string, err error)
}

// Laptop is an enrolled laptop. Zero times mean never.
type Laptop struct {
	ID, Name, OS, Version string
	Enrolled              time.Time
	By                    string // who allowed it
	Owner                 Owner
	Revoked               time.Time // its token is not taken since
	RevokedBy             string
	Seen                  time.Time // when it last asked for anything
	Report                enrolment.Report
	Shipped               time.Time // when bytes of its record last came
	Bytes, Records        int64     // of its record
	Findings              int       // what its record shows that clawai alone never writes
}

// Owner is the person to whom a laptop belongs, as they were when they last signed in. The zero value
// is nobody: the laptop was enrolled before the centre knew people.
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
	// TouchLaptop keeps that a laptop asked for something.
	TouchLaptop(ctx context.Context, id string, now time.Time) error
	AddReport(ctx context.Context, id string, r enrolment.Report, now time.Time) error
}

// Bundle is a signed bundle, as it was published.
type Bundle struct {
	Counter   uint64
	Digest    string // SHA-256 of Bytes, 64 hexadecimal digits
	Created   time.Time
	Published time.Time
	Key       string // name of the key that signed it
	Bytes     []byte
}

// Bundles keeps bundles.
type Bundles interface {
	// AddBundle adds a bundle. ErrOlder: its counter is not higher than that of the newest one.
	AddBundle(ctx context.Context, b Bundle) error
	// FindNewestBundle returns the newest bundle; ErrNone if there is none.
	FindNewestBundle(ctx context.Context) (Bundle, error)
	// ListBundles returns the newest bundles without their bytes, the newest first.
	ListBundles(ctx context.Context, most int) ([]Bundle, error)
}

// Segment is what is held of a segment of a laptop's record.
type Segment struct {
	Laptop, Session, Name string
	Size                  int64 // in bytes
	Complete              bool  // nothing more comes
	Arrival               audit.Arrival
	Sum                   string // state of the SHA-256 of its bytes, as the centre writes it; "" of a segment that came before the centre kept it
	Changed               time.Time
}

// Extension is what changes when a part of a segment comes.
type Extension struct {
	Part     []byte // behind what is held; may be empty
	Segment  Segment
	Records  []Record
	Findings []Finding
}

// Holding is a segment inside the transaction that may extend it. Whoever has one must not ask the
// Store for anything else: all its connections may belong to those who wait for this transaction.
type Holding interface {
	// Segment is what is held; of a new segment its Size is 0.
	Segment() Segment
	// ReadHeld returns the held bytes from an offset on, at most most of them.
	ReadHeld(from int64, most int) ([]byte, error)
	// ListSession returns the other segments of the session, by name.
	ListSession() ([]Segment, error)
	// CountSegments returns how many segments of the laptop are held, and how many of the session.
	CountSegments() (all, ofSession int, err error)
	// CountFindings returns how many findings of the laptop are kept, and how many of them are notes.
	CountFindings() (all, notes int, err error)
}

// Segments keeps the bytes of records.
type Segments interface {
	// FindSegment returns what is held of a segment; ErrNone if there is nothing.
	FindSegment(ctx context.Context, laptop, name string) (Segment, error)
	// ExtendSegment calls extend and keeps what it returns, all or nothing, while nobody else extends
	// the segment. Nothing is kept if extend returns an error.
	ExtendSegment(ctx context.Context, laptop, session, name string, extend func(Holding) (Extension, error)) error
	// ListChangedSegments returns segments of a laptop that changed since a time, in the order of their sessions
	// and, in a session, of their beginning, behind the session and the name of the last one before.
	ListChangedSegments(ctx context.Context, laptop string, since time.Time, session, name string, most int) ([]Segment, error)
	// ReadSegment returns bytes of a segment.
	ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error)
}

// Finding is what the chain of a segment shows.
type Finding struct {
	Laptop, Segment string
	Line            int // 0: the whole segment
	What            string
	Note            bool // it does not prove that somebody changed the record
	Found           time.Time
}

// Look says in one word how a call ended, as the pages of clawai show it.
type Look string

// The looks of a Record; "" of what is no decision.
const (
	LookAllowed Look = "allowed"
	LookAsked   Look = "asked"
	LookRefused Look = "refused"
)

// Record is the index of one record. The line itself is in the segment. All texts are foreign.
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
	NamesOnly                                 bool      // Tool is compared with names of tools and prompts, and with methods, alone
	Since, Until                              time.Time // Until is excluded
	Before                                    Place     // only those that come after this place in the list
	Most                                      int       // at most so many
}

// Place is a place in the list of records, the newest first.
type Place struct {
	Time time.Time
	ID   int64
}

// Sum is how many calls of one hour, laptop and tool had a look.
type Sum struct {
	Hour         time.Time
	Laptop       string
	Server, Tool string
	Look         Look
	N            int
	Of           int // of CountTools: the calls of the tool with any look
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
	// ListFindings returns what was found: notes behind all others, the newest first. "" means all
	// laptops, or all segments.
	ListFindings(ctx context.Context, laptop, segment string, most int) ([]Finding, error)
}

// Errors of a Question that changes.
var (
	ErrOver  = errors.New("the question is answered or over")
	ErrFull  = errors.New("so much is kept of this laptop that no more is taken")
	ErrVoted = errors.New("this person has answered it before")
)

// Question is what a laptop asks the approvers of a rule. Times are those of the centre.
type Question struct {
	ID, Laptop string
	Asked      enrolment.AskQuestion
	Title      string // the call in one harmless line; it may hold arguments
	Created    time.Time
	Held       time.Time // until then the call itself waits; later an approval is kept for the next call like it
	Expires    time.Time // of the question; once it is approved, of the approval
	State      string    // as it was written; see StateAt
	Decided    time.Time
	Votes      []Vote // in the order in which they came
}

// Vote is the answer of one person.
type Vote struct {
	By    principal.Principal
	Allow bool
	Words string
	At    time.Time
	Way   string // on which it came; "" of an answer that was given before ways were kept
}

// maxStep is how far a clock may be set back before what is open counts as expired.
const maxStep = time.Minute

// IsOpen reports whether a question waits at a time, or its approval can be used. What has expired is not
// open, whatever is written, nor is what began later than now: a clock that is set back must not lengthen it.
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

// Given returns how many persons allowed it.
func (q *Question) Given() (n int) {
	for i := range q.Votes {
		if q.Votes[i].Allow {
			n++
		}
	}
	return n
}

// AddVote adds the answer of one person. One who denies decides alone; of those who allow, as many
// are needed as the rule says. kept is how long the approval lives. Until that is used, it can be denied,
// also by somebody who allowed it.
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

// Cancel ends a question whose call is over.
func (q *Question) Cancel(now time.Time) error {
	if !q.IsOpen(now) {
		return ErrOver
	}
	q.State = enrolment.QuestionCancelled
	return nil
}

// Questions keeps questions and who answered them.
type Questions interface {
	// AddQuestion adds a question. If one of the same laptop and digest, with the same approvers, is
	// pending or approved at the time q.Created, it returns that one instead, held until q.Held. ErrMany:
	// as many questions of the laptop as most are pending. ErrFull: all that are kept of it, with this one,
	// would have more than kept bytes.
	AddQuestion(ctx context.Context, q Question, most int, kept int64) (Question, error)
	// FindQuestion returns a question; ErrNone if there is none.
	FindQuestion(ctx context.Context, id string) (Question, error)
	// ListPending returns the questions that are pending at a time, the oldest first, from the one behind
	// another on; from the first on behind the zero value.
	ListPending(ctx context.Context, now time.Time, behind Question, most int) ([]Question, error)
	// ListQuestions returns questions made since a time, the newest first.
	ListQuestions(ctx context.Context, since time.Time, most int) ([]Question, error)
	// CountPending returns how many questions are pending at a time.
	CountPending(ctx context.Context, now time.Time) (int, error)
	// ChangeQuestion changes a question while nobody else does. change may set Votes, State,
	// Decided, Held and Expires. Nothing is kept if it returns an error.
	ChangeQuestion(ctx context.Context, id string, change func(*Question) error) (Question, error)
	// RemoveQuestions removes the questions that were made before a time.
	RemoveQuestions(ctx context.Context, before time.Time) error
}

// Delivery is what was sent of a question on a way out of the centre.
type Delivery struct {
	Question, Way string
	Reference     string // by which the message is found again; "" for none
	Told          string // how the question stood in what was sent last; "" if nothing was sent
	Open          bool   // more may have to be sent
	Tries         int    // that failed in a row
	Next          time.Time
}

// Deliveries keeps what was sent.
type Deliveries interface {
	// FindDelivery returns what was sent of a question on a way; ErrNone if there is nothing.
	FindDelivery(ctx context.Context, question, way string) (Delivery, error)
	// ReplaceDelivery keeps d if what is kept is still as it was found, or nothing is. ErrTwice: another centre
	// was faster.
	ReplaceDelivery(ctx context.Context, found, d Delivery) error
	// ListOpen returns the open deliveries of a way, that of the oldest question first.
	ListOpen(ctx context.Context, way string) ([]Delivery, error)
}

// People keeps who is signed in. Of links and sessions only keyed hashes are kept, of people no roles.
type People interface {
	// AddLink adds a link that signs a local person in once, in the place of every other link of theirs.
	AddLink(ctx context.Context, hash, who string, expires time.Time) error
	// UseLink makes a session of a link. ErrNone: there is no such link, or it was used or expired.
	UseLink(ctx context.Context, hash, session string, now, expires time.Time) error
	// AddSession makes a session of a person, and keeps their groups for the laptops that are theirs.
	AddSession(ctx context.Context, hash string, p principal.Principal, now, expires time.Time) error
	// FindSession returns who has a session, and when it ends; ErrNone if there is none or it has expired.
	FindSession(ctx context.Context, hash string, now time.Time) (p principal.Principal, expires time.Time, err error)
	EndSession(ctx context.Context, hash string) error
	// ListPeople returns who has signed in with a key or, if that has no #, with an e-mail address that the
	// provider has verified, each as they were at their last sign-in.
	ListPeople(ctx context.Context, name string) ([]Owner, error)
}
