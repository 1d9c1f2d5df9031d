package enrolment

import "time"

// Paths of the centre's interface for laptops. Bodies are JSON, except for bundles and segments.
const (
	EnrollPath  = "/v1/enroll"       // POST AskEnrolment, answered by DeviceCode
	TokenPath   = "/v1/enroll/token" //nolint:gosec // POST AskToken, answered by Grant, or 400 with Refusal
	BundlePath  = "/v1/bundle"       // GET with If-None-Match, answered by 200 and the bundle with an ETag, by 304, or by 404 if there is no bundle
	RecordsPath = "/v1/records/"     // followed by SESSION/SEGMENT; GET or PUT, answered by Held
	StatePath   = "/v1/state"        // POST Report, answered by Told

	// QuestionsPath is for new questions: POST AskQuestion, answered by QuestionState.
	// QuestionsPath + "/ID" is for one question: GET with wait=SECONDS is answered as soon as the
	// state changes, and DELETE tells that the call is over. POST to QuestionsPath + "/ID/use" uses
	// up an approval.
	QuestionsPath = "/v1/questions"

	// Paths for the command line of a person. Its token is not the token of a laptop.
	SignInPath      = "/v1/person"           // POST AskEnrolment, answered by DeviceCode; DELETE ends the session
	SignInTokenPath = "/v1/person/token"     //nolint:gosec // POST AskToken, answered by SignIn, or 400 with Refusal
	AnswersPath     = "/v1/person/questions" // GET, answered by AskedList; with "/ID" also GET and POST Answer, both answered by Asked
)

// AskEnrolment begins an enrolment by device code (RFC 8628).
type AskEnrolment struct {
	Name    string `json:"name"` // name of this machine for people
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
	Interval        int    `json:"interval,omitempty"` // seconds between two AskToken; 0 means 5
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
	CheckpointKey string   `json:"checkpoint_key,omitempty"` // verifier key of the centre's checkpoints; "" if the centre makes no checkpoints
}

// SignIn is the answer to AskToken when a person has confirmed the code of their own command line.
type SignIn struct {
	Token     string `json:"token"`
	Name      string `json:"name"` // the person's name, for people to read
	Key       string `json:"key"`
	ExpiresIn int    `json:"expires_in"` // seconds until the sign-in expires
}

// Refusal is the body of an answer that refuses a request. In the answer to AskToken, its Error is
// one of the codes below.
type Refusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// The codes of RFC 8628 for Refusal.Error.
const (
	Pending  = "authorization_pending"
	SlowDown = "slow_down"
	Expired  = "expired_token"
	Refused  = "access_denied"
)

// NoBundle is the Error of a Refusal. A centre without a bundle answers 404 with it.
const NoBundle = "no_bundle"

// Held tells how much of a segment the centre holds. If a PUT begins at another offset, the centre
// answers 409 with a Held.
type Held struct {
	Size     int64 `json:"size"` // number of bytes
	Complete bool  `json:"complete"`
}

// Report is the state of a laptop. The laptop sends it after each poll.
type Report struct {
	Revision string    `json:"revision,omitempty"` // revision of the bundle's policy in force
	Counter  uint64    `json:"counter"`
	Version  string    `json:"version"` // version of clawai
	Error    string    `json:"error,omitempty"`
	Sessions int       `json:"sessions"`          // number of sessions that run now
	Backlog  int64     `json:"backlog,omitempty"` // bytes of the record that are not yet at the centre
	Time     time.Time `json:"time,omitzero"`     // time on the laptop's clock
}

// Told is the answer to Report. An older centre answers with an object without members.
type Told struct {
	Who *Identity `json:"who,omitempty"` // nil: the centre does not know the person who owns this laptop
}

// Identity holds the centre's facts about the person who owns a laptop. Rules can have conditions
// on these facts.
type Identity struct {
	Who         string   `json:"who"`           // the e-mail address that the provider has verified; if there is none, the content of Key
	Key         string   `json:"key"`           // ISSUER#SUBJECT, which is unique to one person
	Groups      []string `json:"groups"`        // names of the groups at the identity provider
	GroupsKnown bool     `json:"groups_known"`  // false: Groups may be incomplete
	Roles       []string `json:"roles"`         // the roles that the centre gives to the person
	Env         string   `json:"env,omitempty"` // the environment that the centre gives to all its laptops; "" for none
}
