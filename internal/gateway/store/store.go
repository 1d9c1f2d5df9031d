// Package store defines the interface to the data of the team's centre: laptops, requests to enrol,
// bundles, segments of records and their index, questions, and sessions of people. Package sqlstore
// implements the interface with a database. Several organisations can share a database. A Store belongs
// to one organisation.
package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
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
	// Check tests whether the database is whole and can be written. It returns an error if the database
	// is damaged or cannot be written.
	Check(ctx context.Context) error
	// CheckReady returns an error if this centre should not serve people and laptops now. The reasons
	// are: a newer program has changed the schema, the database is read-only, or the clocks of the
	// centre and the database differ too much.
	CheckReady(ctx context.Context, now func() time.Time) error
	// KeepMark returns the stored mark: a number that the centre computes from its key for hashes of
	// secrets. If the database has no mark yet, KeepMark stores the given mark. The mark 0 means no
	// mark.
	KeepMark(ctx context.Context, mark int64) (kept int64, err error)
	// SetTimer sets the function f. After each access to the database, the store calls f with "read" or
	// "change" and with the duration of the access. Call SetTimer before any other method of the store.
	SetTimer(f func(operation string, took time.Duration))
	Close() error
}

// The states of an Enrolment.
const (
	Pending = "pending"
	Allowed = "allowed"
	Denied  = "denied"
)

// Enrolment is a laptop's request to enrol. It has only keyed hashes of the request's two codes.
type Enrolment struct {
	DeviceHash, UserHash string
	Ask                  enrolment.AskEnrolment
	Address              string // network address of the laptop
	Created, Expires     time.Time
	Status               string
	Polled               time.Time // time at which the laptop last asked for the decision
	Interval             time.Duration
	Laptop               string // id of the laptop; "" until the laptop gets a token
	By                   string // name and key of the person who decided
}

// Enrolments keeps requests to enrol until the requests expire.
type Enrolments interface {
	// AddEnrolment adds a request, and removes all requests that expired before e.Created. The error is
	// ErrMany if there are already as many pending requests as the parameter most allows.
	AddEnrolment(ctx context.Context, e Enrolment, most int) error
	// FindEnrolment returns the request that has a user code. The error is ErrNone if no request has
	// the code.
	FindEnrolment(ctx context.Context, userHash string) (Enrolment, error)
	// DecideEnrolment changes a pending request to Allowed or Denied. A person who allows the request
	// becomes the owner of the laptop. The error is ErrTwice if the request is not pending.
	DecideEnrolment(ctx context.Context, userHash, status string, by principal.Principal) error
	// PollEnrolment returns the request that has a device code, in its state before this poll. It then
	// calls change, and stores the fields Polled and Interval that change has set.
	PollEnrolment(ctx context.Context, deviceHash string, change func(*Enrolment)) (Enrolment, error)
	// AddLaptop adds the laptop of an allowed request. If the laptop already exists and has never used
	// its token, the laptop gets the new token, because the answer with the old token may have been
	// lost. The error is ErrTwice if the laptop has used its token, or if the request is not allowed.
	AddLaptop(ctx context.Context, deviceHash string, l Laptop, tokenHash string) (id string, err error)
}

// Laptop is an enrolled laptop. A zero time means never.
type Laptop struct {
	ID, Name, OS, Version string
	Enrolled              time.Time
	By                    string // name and key of the person who allowed the laptop
	Owner                 Owner
	Revoked               time.Time // time since which the centre refuses the laptop's token
	RevokedBy             string
	Seen                  time.Time // time of the laptop's last request
	Report                enrolment.Report
	Shipped               time.Time // time at which bytes of the laptop's record last arrived
	Bytes, Records        int64     // number of bytes and records in the laptop's record
	Findings              int       // number of findings in the laptop's record that prove a change
}

// Owner is the owner of a laptop, as the identity provider described the owner at the last sign-in. The
// zero value means that the laptop has no owner, because an older version of the centre enrolled the
// laptop.
type Owner struct {
	principal.Principal // Roles is empty
	Seen                time.Time
}

// Laptops stores the enrolled laptops.
type Laptops interface {
	// FindLaptop returns a laptop and the keyed hash of its token. The error is ErrNone if the laptop
	// does not exist.
	FindLaptop(ctx context.Context, id string) (l Laptop, tokenHash string, err error)
	ListLaptops(ctx context.Context) ([]Laptop, error)
	// RevokeLaptop ends the token of a laptop. The error is ErrNone if the laptop does not exist, and
	// ErrTwice if the laptop was already revoked.
	RevokeLaptop(ctx context.Context, id, by string, now time.Time) error
	// TouchLaptop stores the time of a laptop's last request in Seen. It keeps the stored time if that
	// time is later than now.
	TouchLaptop(ctx context.Context, id string, now time.Time) error
	AddReport(ctx context.Context, id string, r enrolment.Report, now time.Time) error
}

// Bundle is a published bundle with its signature.
type Bundle struct {
	Counter   uint64
	Digest    string // SHA-256 of Bytes, 64 hexadecimal digits
	Created   time.Time
	Published time.Time
	Key       string // name of the key that signed the bundle
	By        string // person or machine that published the bundle; "" if an older version stored the bundle
	Bytes     []byte
}

// Bundles keeps the bundles that were put into force. The newest of these bundles is in force.
type Bundles interface {
	// AddBundle adds a bundle, and replaces a waiting proposal. The error is ErrOlder if a stored
	// bundle or proposal has the same counter or a higher one.
	AddBundle(ctx context.Context, b Bundle) error
	// FindNewestBundle returns the newest bundle. The error is ErrNone if the store has no bundle.
	FindNewestBundle(ctx context.Context) (Bundle, error)
	// FindBundle returns the bundle with a counter. The error is ErrNone if no bundle has this counter.
	FindBundle(ctx context.Context, counter uint64) (Bundle, error)
	// FindBundleBefore returns the newest bundle that has a lower counter. The error is ErrNone if no
	// bundle has a lower counter.
	FindBundleBefore(ctx context.Context, counter uint64) (Bundle, error)
	// ListBundles returns the newest bundles without their bytes. The newest bundle comes first.
	ListBundles(ctx context.Context, most int) ([]Bundle, error)
}

// Segment is the state of one segment of a laptop's record. It does not have the segment's bytes.
type Segment struct {
	Laptop, Session, Name string
	Size                  int64 // in bytes
	Complete              bool  // true after the laptop said that the segment ends here
	Arrival               audit.Arrival
	Sum                   string // state of the SHA-256 of the bytes so far, in base64; "" if an older version stored the segment
	Changed               time.Time
}

// Extension is a new part of a segment. It also has the segment's new state, and the part's records and
// findings.
type Extension struct {
	Part     []byte // bytes to append to the segment; may be empty
	Segment  Segment
	Records  []Record
	Findings []Finding
}

// Holding is a segment inside the transaction that may extend it. While the transaction runs, the user
// of Holding must not call other methods of the Store. Such a call could wait for ever, because callers
// that wait for this transaction may hold all connections.
type Holding interface {
	// Segment returns the state of the segment before the extension. Size is 0 for a new segment.
	Segment() Segment
	// ReadHeld returns stored bytes of the segment, starting at the offset from. most is the
	// maximum number of bytes.
	ReadHeld(from int64, most int) ([]byte, error)
	// ListSession returns the other segments of the session, sorted by name.
	ListSession() ([]Segment, error)
	// CountSegments returns the number of stored segments of the laptop, and of the session.
	CountSegments() (all, ofSession int, err error)
	// CountFindings returns the number of stored findings of the laptop. notes is the number of notes
	// among these findings.
	CountFindings() (all, notes int, err error)
}

// Segments stores the segments of laptops' records.
type Segments interface {
	// FindSegment returns a segment. The error is ErrNone if the segment does not exist.
	FindSegment(ctx context.Context, laptop, name string) (Segment, error)
	// ExtendSegment calls extend and stores the result in the same transaction. Two calls never extend
	// the same segment at the same time. If extend returns an error, the store keeps nothing.
	ExtendSegment(ctx context.Context, laptop, session, name string, extend func(Holding) (Extension, error)) error
	// ListChangedSegments returns the segments of a laptop that changed since a time, sorted by session
	// and then by name. A segment's name starts with the start time of the segment. session
	// and name are the session and name of the last segment on the previous page.
	ListChangedSegments(ctx context.Context, laptop string, since time.Time, session, name string, most int) ([]Segment, error)
	// ReadSegment returns bytes of a segment.
	ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error)
}

// Finding is one fault in a segment, which the check of the segment's chain of digests found.
type Finding struct {
	Laptop, Segment string
	Line            int // number of the line in the segment; 0 means the whole segment
	What            string
	Note            bool // true if the fault does not prove that somebody changed the record
	Found           time.Time
}

// Look is the word with which the pages of clawai show how a call ended.
type Look string

// The looks of a Record. A record that is not a decision has the look "".
const (
	LookAllowed Look = "allowed"
	LookAsked   Look = "asked"
	LookRefused Look = "refused"
)

// Record is the index entry of one record. The segment has the record itself. The texts of a Record
// come from the laptop, so no text is trusted.
type Record struct {
	ID              int64 // id in the database
	Laptop, Session string
	Seq             uint64
	Time            time.Time // by the laptop's clock
	Kind            string
	Look            Look
	Server          string
	Subject, Name   string // the subject of the call (tool, resource ...), and the first name in the call
	Method          string
	About           string // the argument by which a person recognises the call
	Code, Reason    string
	Rule, RuleText  string      // place and description of the rule that decided the call
	Labels          policy.Seen // labels of the agent's session that led to a question or a refusal
	Ref             string      // the id of another record to which this record belongs
	Segment         string
	Offset          int64
	Length          int
}

// Query selects records. A zero field selects all records.
type Query struct {
	Laptop, Session, Server, Tool, Kind, Rule string
	Look                                      Look
	Label                                     policy.Seen // one label that led to the question or refusal
	NamesOnly                                 bool        // with Tool: only records whose name names a tool, a prompt or a method
	Since, Until                              time.Time   // Until is excluded
	Before                                    Place       // only records after this place in the list
	Most                                      int         // maximum number of records
}

// Place is a place in a list of records. The newest record comes first in the list.
type Place struct {
	Time time.Time
	ID   int64
}

// Sum is a number of calls that have the same look, hour, laptop and tool. Each query sets only some of
// the fields.
type Sum struct {
	Hour         time.Time
	Laptop       string
	Server, Tool string
	Look         Look
	Label        policy.Seen // one label; only CountLabels sets this field
	N            int
	Of           int // number of the tool's calls with any look; only CountTools sets this field
}

// Records reads the index of records.
type Records interface {
	// ListRecords returns records. The newest record comes first.
	ListRecords(ctx context.Context, q Query) ([]Record, error)
	FindRecord(ctx context.Context, id int64) (Record, error)
	// ListNeighbours returns the records of a session that have numbers from low to high, in order.
	ListNeighbours(ctx context.Context, laptop, session string, low, high uint64) ([]Record, error)
	// CountHours counts the calls since a time, for each hour and each look. It sets only Hour, Look
	// and N.
	CountHours(ctx context.Context, since time.Time) ([]Sum, error)
	// CountTools returns the tools that had the most calls with a look since a time.
	CountTools(ctx context.Context, look Look, since time.Time, most int) ([]Sum, error)
	// CountLabels counts, for each label and each look, the calls since a time that were asked about or
	// refused because of labels. A call counts with each of its labels. It sets only Label, Look and N.
	CountLabels(ctx context.Context, since time.Time) ([]Sum, error)
	// ListFindings returns findings. The newest finding comes first, and notes come after all other
	// findings. laptop "" means all laptops, and segment "" means all segments.
	ListFindings(ctx context.Context, laptop, segment string, most int) ([]Finding, error)
}

// Errors of methods that change a Question.
var (
	ErrOver  = errors.New("the question is answered or over")
	ErrFull  = errors.New("so much is kept of this laptop that no more is taken")
	ErrVoted = errors.New("this person has answered it before")
)

// Question is a laptop's question to the approvers of a rule. All times are by the centre's clock.
type Question struct {
	ID, Laptop string
	Asked      enrolment.AskQuestion
	Title      string // the call in one line without control characters; may contain arguments
	Created    time.Time
	Held       time.Time // time until which the call itself waits; a later approval is for the next call with the same digest
	Expires    time.Time // time at which the question expires; in an approved question, the time at which the approval expires
	State      string    // the stored state; StateAt returns the state at a time, because a stored question may have expired
	Decided    time.Time
	Votes      []Vote // in the order of their arrival
}

// Vote is the answer of one person.
type Vote struct {
	By    principal.Principal
	Allow bool
	Words string
	At    time.Time
	Way   string // page, command line or Slack; "" if an older version stored the vote
}

// maxStep is how far a clock may be set back before an open question counts as expired.
const maxStep = time.Minute

// IsOpen reports whether the question waits or has an approval that can still be used. An expired question
// is not open in any stored state. If the question was created or decided more than maxStep after the time
// in the parameter now, the clock was set back. Then the question is not open either, so that its life
// does not become longer.
func (q *Question) IsOpen(now time.Time) bool {
	begun := q.Created
	if q.Decided.After(begun) {
		begun = q.Decided
	}
	return (q.State == enrolment.QuestionPending || q.State == enrolment.QuestionApproved) && now.Before(q.Expires) && !now.Add(maxStep).Before(begun)
}

// StateAt returns the state of the question at a time.
func (q *Question) StateAt(now time.Time) string {
	if (q.State == enrolment.QuestionPending || q.State == enrolment.QuestionApproved) && !q.IsOpen(now) {
		return enrolment.QuestionExpired
	}
	return q.State
}

// Given returns the number of people who allowed the question.
func (q *Question) Given() (n int) {
	for i := range q.Votes {
		if q.Votes[i].Allow {
			n++
		}
	}
	return n
}

// AddVote adds the answer of one person. One denial ends the question. The rule says how many people
// must allow the question (Asked.Approvals). The parameter kept is how long an approval is valid. One
// denial also ends an unused approval, even the denial of a person who allowed the call. The error is
// ErrOver if the question is over, or if v allows an already approved question. The error is ErrVoted
// if the person allows twice.
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

// Use uses up an approval. The error is ErrOver if the question has no valid approval.
func (q *Question) Use(now time.Time) error {
	if q.StateAt(now) != enrolment.QuestionApproved {
		return ErrOver
	}
	q.State = enrolment.QuestionUsed
	return nil
}

// Cancel ends a question because its call does not wait any more. The error is ErrOver if the question
// is not open.
func (q *Question) Cancel(now time.Time) error {
	if !q.IsOpen(now) {
		return ErrOver
	}
	q.State = enrolment.QuestionCancelled
	return nil
}

// Questions keeps questions and their votes.
type Questions interface {
	// AddQuestion adds a question. It first looks for a question with the same laptop, digest and
	// approvers that is pending or approved at the time q.Created. If this question exists, AddQuestion
	// sets its Held to q.Held and returns it. The error is ErrMany if the laptop already has as many
	// pending questions as the parameter most allows. The error is ErrFull if the laptop's questions would
	// have more bytes than the parameter kept.
	AddQuestion(ctx context.Context, q Question, most int, kept int64) (Question, error)
	// FindQuestion returns a question. The error is ErrNone if the question does not exist.
	FindQuestion(ctx context.Context, id string) (Question, error)
	// ListPending returns questions that are pending at a time. The oldest question comes first. The
	// list starts after the question in the parameter behind, or with the oldest question if behind
	// is the zero value.
	ListPending(ctx context.Context, now time.Time, behind Question, most int) ([]Question, error)
	// ListQuestions returns the questions that were created since a time. The newest question comes
	// first.
	ListQuestions(ctx context.Context, since time.Time, most int) ([]Question, error)
	// CountPending returns how many questions are pending at a time.
	CountPending(ctx context.Context, now time.Time) (int, error)
	// ChangeQuestion calls change with a question and stores the result. No other call changes the
	// question at the same time. change may set Votes, State, Decided, Held and Expires. If change
	// returns an error, the store keeps nothing.
	ChangeQuestion(ctx context.Context, id string, change func(*Question) error) (Question, error)
	// RemoveQuestions removes the questions that were created before a time.
	RemoveQuestions(ctx context.Context, before time.Time) error
}

// Delivery is the state of the messages about one question on one message.Way.
type Delivery struct {
	Question, Way string
	Reference     string // the service's name for the message, used by Way.Update; "" if the service gave no name
	Told          string // state of the question in the last message; "" if no message was sent
	Open          bool   // true if the centre may still have to send a message
	Tries         int    // number of failures in a row
	Next          time.Time
}

// Deliveries keeps the state of messages about questions.
type Deliveries interface {
	// FindDelivery returns the delivery of a question on a way. The error is ErrNone if the store has
	// no such delivery.
	FindDelivery(ctx context.Context, question, way string) (Delivery, error)
	// ReplaceDelivery stores d in place of the delivery found. It also adds d if the store has no
	// delivery yet. The error is ErrTwice if another centre changed the stored delivery in the
	// meantime.
	ReplaceDelivery(ctx context.Context, found, d Delivery) error
	// ListOpen returns the open deliveries of a way. The delivery of the oldest question comes first.
	ListOpen(ctx context.Context, way string) ([]Delivery, error)
}

// People keeps links and sessions of people. It keeps only keyed hashes of links and sessions, and it
// keeps no roles.
type People interface {
	// AddLink adds a link. The link signs a local person in once. AddLink removes all other links of
	// the same person.
	AddLink(ctx context.Context, hash, who string, expires time.Time) error
	// UseLink replaces a link by a session. The error is ErrNone if the link does not exist, was used,
	// or has expired.
	UseLink(ctx context.Context, hash, session string, now, expires time.Time) error
	// AddSession adds a session of a person. It also stores the person and the person's groups as the
	// owner of the person's laptops.
	AddSession(ctx context.Context, hash string, p principal.Principal, now, expires time.Time) error
	// FindSession returns the person of a session, and the time at which the session ends. The error is
	// ErrNone if the session does not exist or has expired.
	FindSession(ctx context.Context, hash string, now time.Time) (p principal.Principal, expires time.Time, err error)
	EndSession(ctx context.Context, hash string) error
	// ListPeople returns the people whom name identifies, with the data of their last sign-in. name is
	// a person's key (ISSUER#SUBJECT), or an e-mail address that the provider has verified.
	ListPeople(ctx context.Context, name string) ([]Owner, error)
}
