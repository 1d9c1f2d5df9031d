package enrolment

import "time"

// Paths of the centre's interface for laptops. Bodies are JSON, except those of bundles and
// segments.
const (
	EnrollPath  = "/v1/enroll"       // POST AskEnrolment, answered by DeviceCode
	TokenPath   = "/v1/enroll/token" //nolint:gosec // POST AskToken, answered by Grant, or 400 with Refusal
	BundlePath  = "/v1/bundle"       // GET with If-None-Match: 200 and the bundle with an ETag, 304, or 404 if there is none
	RecordsPath = "/v1/records/"     // followed by SESSION/SEGMENT; GET, PUT: Held
	StatePath   = "/v1/state"        // POST Report, answered by Told

	// QuestionsPath takes a question: POST AskQuestion, answered by QuestionState. Behind it, QuestionsPath
	// + "/ID": GET with wait=SECONDS, which answers as soon as the state changes; DELETE, when the call is
	// over; and POST to QuestionsPath + "/ID/use", which uses up an approval.
	QuestionsPath = "/v1/questions"

	// Paths for a person's command line, whose token is not that of a laptop.
	SignInPath      = "/v1/person"           // POST AskEnrolment, answered by DeviceCode; DELETE ends the session
	SignInTokenPath = "/v1/person/token"     //nolint:gosec // POST AskToken, answered by SignIn, or 400 with Refusal
	AnswersPath     = "/v1/person/questions" // GET: AskedList. Behind it, "/ID": GET, and POST Answer: Asked
)

// AskEnrolment begins an enrolment by device code (RFC 8628).
type AskEnrolment struct {
	Name    string `json:"name"` // name of this machine, as people know it
	OS      string `json:"os"`
	Version string `json:"version"` // version of clawai
}

// DeviceCode is the answer to AskEnrolment. Times are in seconds.
type DeviceCode struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	Complete        string `json:"verification_uri_complete,omitempty"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval,omitempty"` // between two AskToken; 0 means 5
}

// AskToken asks whether a person has confirmed the code.
type AskToken struct {
	DeviceCode string `json:"device_code"`
}

// Grant is the answer to AskToken when a person has confirmed the code.
type Grant struct {
	Laptop        string   `json:"laptop"`
	Token         string   `json:"token"`
	BundleKeys    []string `json:"bundle_keys"`
	Offline       Offline  `json:"offline"`
	CheckpointKey string   `json:"checkpoint_key,omitempty"` // verifier key of the centre's checkpoints; "" if it makes none
}

// SignIn is the answer to AskToken when a person has confirmed the code of their command line.
type SignIn struct {
	Token     string `json:"token"`
	Name      string `json:"name"` // of the person, for people to read
	Key       string `json:"key"`
	ExpiresIn int    `json:"expires_in"` // seconds
}

// Refusal is the body of an answer that refuses. To AskToken its Error is one of the codes below.
type Refusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// The codes of RFC 8628 in a Refusal.
const (
	Pending  = "authorization_pending"
	SlowDown = "slow_down"
	Expired  = "expired_token"
	Refused  = "access_denied"
)

// NoBundle is the Error of a Refusal with which a centre answers 404 if it has no bundle.
const NoBundle = "no_bundle"

// Held tells how much of a segment the centre holds. The centre answers 409 with a Held to a PUT
// that begins at any other offset.
type Held struct {
	Size     int64 `json:"size"` // in bytes
	Complete bool  `json:"complete"`
}

// Report is the state of a laptop, which the laptop sends after each poll.
type Report struct {
	Revision string    `json:"revision,omitempty"` // revision of the bundle's policy in force
	Counter  uint64    `json:"counter"`
	Version  string    `json:"version"` // version of clawai
	Error    string    `json:"error,omitempty"`
	Sessions int       `json:"sessions"`          // sessions that run now
	Backlog  int64     `json:"backlog,omitempty"` // bytes of the record that are not yet at the centre
	Time     time.Time `json:"time,omitzero"`     // by the laptop's clock
}

// Told is the answer to Report. The answer of an older centre has no members.
type Told struct {
	Who *Identity `json:"who,omitempty"` // nil: the centre does not know whose laptop this is
}

// Identity is the person whom a laptop belongs to, as the centre knows the person now. Rules can
// have conditions on it.
type Identity struct {
	Who         string   `json:"who"`           // the e-mail address that the provider has verified, or the key
	Key         string   `json:"key"`           // ISSUER#SUBJECT, which is unique to one person
	Groups      []string `json:"groups"`        // as the identity provider names them
	GroupsKnown bool     `json:"groups_known"`  // false: Groups may not have all groups of the person
	Roles       []string `json:"roles"`         // the roles that the centre gives to the person
	Env         string   `json:"env,omitempty"` // the environment that the centre names for all its laptops; "" for none
}
