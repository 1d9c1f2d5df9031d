package approvecmd

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/policy"
)

// requestJSON is one request in the JSON output for scripts. Its texts are unchanged, so they may
// contain control characters.
type requestJSON struct {
	ID       string      `json:"id"`
	Status   string      `json:"status"`
	Created  time.Time   `json:"created"`
	Deadline *time.Time  `json:"deadline,omitempty"`
	Server   string      `json:"server"`
	Client   string      `json:"client,omitempty"`
	Project  string      `json:"project,omitempty"`
	Session  string      `json:"session"`
	Risk     string      `json:"risk"`
	Dangers  []string    `json:"dangers,omitempty"`
	Calls    []callJSON  `json:"calls"`
	Rule     *ruleJSON   `json:"rule,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Findings any         `json:"findings,omitempty"`
	Preview  any         `json:"preview,omitempty"` // result of the preview of the command
	Revision string      `json:"revision,omitempty"`
	Digest   string      `json:"digest,omitempty"` // SHA-256 of the frame of the call
	Lasting  bool        `json:"lasting"`          // whether --for session is possible
	Offers   []offerJSON `json:"offers,omitempty"`
	NoOffer  string      `json:"no_offer,omitempty"`
	// Damage is the reason why the call cannot be read. Such a request can only be denied.
	Damage  string      `json:"damage,omitempty"`
	Decided *time.Time  `json:"decided,omitempty"`
	Answer  *answerJSON `json:"answer,omitempty"`
	Outcome string      `json:"outcome,omitempty"`
}

type callJSON struct {
	Server    string   `json:"server,omitempty"`
	Method    string   `json:"method"`
	Names     []string `json:"names"`
	Arguments any      `json:"arguments,omitempty"`
	// Extra has the members of the params other than the name and the arguments. It omits the
	// members that belong to the protocol.
	Extra any `json:"extra,omitempty"`
}

type ruleJSON struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

type offerJSON struct {
	Scope string `json:"scope"`
	Title string `json:"title"`
	// Session describes the calls that --for session allows with this scope. It is absent if --for
	// session is not possible.
	Session string `json:"session,omitempty"`
	Allow   string `json:"allow,omitempty"`
	Deny    string `json:"deny,omitempty"`
	Example string `json:"example,omitempty"`
}

type answerJSON struct {
	Reply   string `json:"reply"` // one of "once", "session", "always", "deny", "deny always"
	Scope   string `json:"scope,omitempty"`
	Channel string `json:"rung"`
	By      string `json:"by,omitempty"`
	Note    string `json:"note,omitempty"`
}

type grantJSON struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Server  string `json:"server"`
	Client  string `json:"client,omitempty"`
	Project string `json:"project,omitempty"`
	// Reach describes what the grant allows in addition to the calls. It is absent if the grant
	// allows nothing else.
	Reach string     `json:"reach,omitempty"`
	Calls []callJSON `json:"calls"`
	Rule  *ruleJSON  `json:"rule,omitempty"`
	Since time.Time  `json:"since"`
	Uses  int        `json:"uses"`
}

func requestDocs(all []queue.Request, o view.Options) []requestJSON {
	docs := make([]requestJSON, len(all))
	for i := range all {
		docs[i] = requestDoc(&all[i], o)
	}
	return docs
}

func requestDoc(r *queue.Request, o view.Options) requestJSON {
	o.ReadFile = nil
	doc := requestJSON{
		ID: r.ID, Status: string(r.Status), Created: r.Created.UTC(), Deadline: utcTime(r.Deadline),
		Server: r.Server, Client: r.Client, Project: r.Project, Session: r.Session,
		Risk: r.Risk, Dangers: console.FactsOf(r, o).Dangers, Calls: callDocs(r.Calls), Rule: ruleDoc(r.Rule),
		Reason: r.Reason, Findings: rawJSON(r.Findings), Preview: rawJSON(r.Preview), Revision: r.Revision,
		Lasting: r.Lasting, NoOffer: r.NoOffer, Decided: utcTime(r.Decided), Outcome: r.Outcome,
	}
	if r.Digest != [32]byte{} {
		doc.Digest = hex.EncodeToString(r.Digest[:])
	}
	if r.Damage != nil {
		doc.Damage = r.Damage.Error()
	}
	for _, offer := range r.Offers {
		doc.Offers = append(doc.Offers, offerJSON(offer))
	}
	if r.Status == queue.Approved || r.Status == queue.Denied {
		a := r.Answer
		doc.Answer = &answerJSON{a.Reply.String(), a.Scope, a.Channel, a.By, a.Words}
	}
	return doc
}

func grantDocs(all []queue.Grant) []grantJSON {
	docs := make([]grantJSON, len(all))
	for i, g := range all {
		docs[i] = grantJSON{g.ID, g.Session, g.Server, g.Client, g.Project, g.Reach, callDocs(g.Calls), ruleDoc(g.Rule), g.Since.UTC(), g.Uses}
	}
	return docs
}

func callDocs(calls []policy.Call) []callJSON {
	docs := make([]callJSON, len(calls))
	for i, c := range calls {
		docs[i] = callJSON{c.Server, c.Method, c.Names, rawJSON(c.Args), rawJSON(c.Extra)}
	}
	return docs
}

func ruleDoc(r policy.Rule) *ruleJSON {
	if r.Pos.Line == 0 {
		return nil
	}
	return &ruleJSON{r.Pos.File, r.Pos.Line, r.Description}
}

func utcTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// rawJSON returns JSON unchanged. If src is not JSON, it returns src as a string.
func rawJSON(src []byte) any {
	switch {
	case len(src) == 0:
		return nil
	case json.Valid(src):
		return json.RawMessage(src)
	}
	return string(src)
}
