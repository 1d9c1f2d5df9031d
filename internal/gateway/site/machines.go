package site

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/workload"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/text/term"
)

// machinePrefix begins the paths for machines, such as jobs of CI. A machine sends a key of the centre, or a
// token from its platform.
const machinePrefix = "/v1/machine/"

// machineRoutes are the requests of machines. For each request, a machine needs one of the listed roles.
var machineRoutes = map[string]struct {
	method string
	roles  []string
	once   bool // a token of a workload can be used for only one such request
	answer func(*visit) (*reply, error)
}{
	machinePrefix + "bundle":  {http.MethodPut, []string{principal.Publish}, true, (*visit).takeBundle},
	machinePrefix + "records": {http.MethodGet, []string{principal.Auditor, principal.Payload}, false, (*visit).answerRecordList},
}

// answerMachine answers a machine.
func (s *Site) answerMachine(w http.ResponseWriter, r *http.Request) (*reply, error) {
	rt, ok := machineRoutes[r.URL.Path]
	switch {
	case !ok || r.URL.RawPath != "" || len(r.URL.RawQuery) > maxForm:
		return nil, refuse(http.StatusNotFound, "There is nothing here.")
	case rt.method != r.Method:
		w.Header().Set("Allow", rt.method)
		return nil, refuse(http.StatusMethodNotAllowed, "Only "+rt.method+" is answered here.")
	case !isText(r.URL.RawQuery):
		return nil, refuse(http.StatusBadRequest, "The address has signs that are no text.")
	}
	if bearerOf(r) == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="clawai"`)
		return nil, refuse(http.StatusUnauthorized, "A machine sends its key, or a token of its platform, in the header Authorization: Bearer KEY; make a key with: clawai-gateway key-add")
	}
	who, err := s.centre.CheckMachine(r.Context(), bearerOf(r), s.addressOf(r))
	if err != nil {
		return nil, s.refuseMachine(w, r, err)
	}
	if !who.Has(rt.roles...) {
		return nil, refuse(http.StatusForbidden, fmt.Sprintf("This key or token has not the role for that: %s.", strings.Join(rt.roles, " or ")))
	}
	if !s.beginWork(who.Key(), maxParts) {
		return nil, refuse(http.StatusTooManyRequests, fmt.Sprintf("%d requests of this machine are being answered; send one after the other.", maxParts))
	}
	defer s.endWork(who.Key())
	if err := s.centre.UseMachine(r.Context(), who, rt.once); err != nil {
		return nil, s.refuseMachine(w, r, err)
	}
	return rt.answer(&visit{s: s, w: w, r: r, who: who.Principal})
}

// refuseMachine returns the refusal for a machine that is not let in. For a token, it reports the details to the
// centre's administrator only: the sender of a wrong token must not learn the rules.
func (s *Site) refuseMachine(w http.ResponseWriter, r *http.Request, err error) error {
	refused, ok := errors.AsType[*workload.Error](err)
	switch {
	case errors.Is(err, centre.ErrNoAccess):
		err = refuse(http.StatusUnauthorized, "This key is not valid here: it has expired, was revoked or replaced, or is another centre's.")
	case errors.Is(err, centre.ErrTooOften):
		return refuse(http.StatusTooManyRequests, "Too many keys that are not valid came from this address; wait some minutes and try again.")
	case ok:
		if s.Report != nil && r.Context().Err() == nil {
			s.Report(refused)
		}
		err = refuse(refused.Status, refused.Text)
	default:
		return err
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="clawai"`)
	return err
}

// takeBundle publishes a signed bundle.
func (v *visit) takeBundle() (*reply, error) {
	src, err := readBody(v.w, v.r, bundle.MaxSize)
	if err != nil {
		return nil, err
	}
	b, err := v.s.centre.PublishAs(v.r.Context(), src, v.who)
	if refused, ok := errors.AsType[*centre.BundleError](err); ok {
		return nil, refuse(http.StatusUnprocessableEntity, "The bundle is not published: "+term.VisibleText(refused.Error()))
	}
	if err != nil {
		return nil, err
	}
	people := 0
	if b.State == store.ProposalWaits {
		people = v.s.centre.Settings.PeopleWanted()
	}
	return &reply{http.StatusOK, struct {
		Counter uint64 `json:"counter"`
		Digest  string `json:"digest"`
		Key     string `json:"key"`
		State   string `json:"state"`            // store.ProposalActivated or store.ProposalWaits
		People  int    `json:"people,omitempty"` // number of people for whom the bundle waits
	}{b.Counter, b.Digest, b.Key, b.State, people}}, nil
}

// machineRecord is the JSON of a record for machines. As on the pages, fields that may contain arguments are
// left out for a machine without the role principal.Payload.
type machineRecord struct {
	Time     string `json:"time"`
	Laptop   string `json:"laptop"`
	Session  string `json:"session"`
	Record   string `json:"record"`
	Kind     string `json:"kind"`
	Decision string `json:"decision,omitempty"`
	Server   string `json:"server,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Rule     string `json:"rule,omitempty"`
	RuleText string `json:"rule_text,omitempty"`
	About    string `json:"about,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// answerRecordList lists records. It takes the same filters as the page of records.
func (v *visit) answerRecordList() (*reply, error) {
	q, err := parseQuery(v.r.URL.Query(), v.s.centre.Now())
	if err != nil {
		return nil, err
	}
	records, next, err := v.findRecords(q)
	if err != nil {
		return nil, err
	}
	all := []machineRecord{}
	for i, row := range v.newRecordRows(records, nil) {
		r := machineRecord{
			Time: row.Stamp, Laptop: row.Laptop, Session: row.Session, Record: row.Record, Kind: row.Kind, Decision: string(records[i].Look),
			Server: row.Server, Tool: row.Tool, Rule: row.Rule, RuleText: row.RuleText, About: row.About, Reason: row.Reason,
		}
		all = append(all, r)
	}
	return &reply{http.StatusOK, struct {
		Records []machineRecord `json:"records"`
		Before  string          `json:"before,omitempty"` // for the next page
	}{all, next}}, nil
}
