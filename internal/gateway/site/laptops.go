package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// maxMessage is the maximum size of a laptop's message in bytes, except for questions and parts of segments.
const maxMessage = 16 << 10

// serveLaptop answers a laptop. Package enrolment defines the paths and the JSON of messages.
func (s *Site) serveLaptop(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answerLaptop(w, r)
	switch {
	case err != nil:
		s.report(r, err)
		status, text := statusOf(err)
		writeJSON(w, status, enrolment.Refusal{Error: errorWord(status), Description: text})
	case answer != nil:
		writeJSON(w, answer.status, answer.body)
	}
}

// reply is an answer to a laptop, a machine or a command line.
type reply struct {
	status int
	body   any
}

// errorWord returns the word for an HTTP status in enrolment.Refusal, such as not_found.
func errorWord(status int) string {
	return strings.ToLower(strings.ReplaceAll(http.StatusText(status), " ", "_"))
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// answerLaptop returns the answer to a laptop; nil if it is already written.
func (s *Site) answerLaptop(w http.ResponseWriter, r *http.Request) (*reply, error) {
	// Refuse browsers: a browser sends one of these headers, and a laptop sends none of them.
	if page.CheckHost(r, s.origin) != nil {
		return nil, refuse(http.StatusMisdirectedRequest, "This is not the address of the centre.")
	}
	if len(r.Header.Values("Origin")) > 0 || len(r.Header.Values("Sec-Fetch-Site")) > 0 || len(r.Header.Values("Cookie")) > 0 {
		return nil, refuse(http.StatusForbidden, "This address is for laptops, and browsers are not answered.")
	}
	path, method := r.URL.Path, r.Method
	if strings.HasPrefix(path, machinePrefix) {
		return s.answerMachine(w, r)
	}
	isRecords := strings.HasPrefix(path, enrolment.RecordsPath)
	isQuestion := strings.HasPrefix(path, enrolment.QuestionsPath+"/")
	allowed := map[string]string{enrolment.EnrollPath: "POST", enrolment.TokenPath: "POST", enrolment.BundlePath: "GET", enrolment.StatePath: "POST", enrolment.QuestionsPath: "POST", checkpoint.NotePath: "GET", checkpoint.HeadsPath: "GET"}[path]
	if isRecords {
		allowed = "GET, PUT"
	}
	isPerson := personMethods(path) != ""
	if isPerson {
		allowed = personMethods(path)
	}
	if isQuestion {
		if allowed = "GET, DELETE"; strings.HasSuffix(path, usePath) {
			allowed = "POST"
		}
	}
	switch {
	case allowed == "":
		return nil, refuse(http.StatusNotFound, "There is nothing here.")
	case method == "" || !strings.Contains(", "+allowed+",", ", "+method+","):
		w.Header().Set("Allow", allowed)
		return nil, refuse(http.StatusMethodNotAllowed, "Only "+allowed+" is answered here.")
	case isPerson:
		return s.answerPerson(w, r)
	case path == enrolment.EnrollPath:
		return s.answerEnroll(w, r)
	case path == enrolment.TokenPath:
		return s.answerToken(w, r)
	}
	l, err := s.findLaptop(r)
	if err != nil {
		if errors.Is(err, centre.ErrNoAccess) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="clawai"`)
			err = refuse(http.StatusUnauthorized, "This laptop's token is not valid here: it was revoked, or is another centre's.")
		}
		return nil, err
	}
	if err := s.centre.Store.TouchLaptop(r.Context(), l.ID, s.centre.Now()); err != nil {
		return nil, err
	}
	switch path {
	case enrolment.BundlePath:
		return s.answerBundle(w, r)
	case enrolment.StatePath:
		return s.answerState(w, r, l)
	case enrolment.QuestionsPath:
		return s.takeQuestion(w, r, l)
	case checkpoint.NotePath:
		return s.answerCheckpoint(r)
	case checkpoint.HeadsPath:
		return s.answerHeads(r, l)
	}
	if isQuestion {
		return s.serveQuestion(r, l)
	}
	return s.answerRecords(w, r, l)
}

// findLaptop returns the laptop whose token came with a request.
func (s *Site) findLaptop(r *http.Request) (store.Laptop, error) {
	return s.centre.CheckToken(r.Context(), bearerOf(r))
}

// bearerOf returns the token of a request; "" if it has none, or more than one.
func bearerOf(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// readMessage reads a message of a laptop. It ignores unknown members, because a newer clawai may send
// more of them.
func readMessage(w http.ResponseWriter, r *http.Request, into any) error {
	return readLongMessage(w, r, into, maxMessage)
}

// readLongMessage is readMessage with another limit: the parameter most is the maximum size in bytes.
func readLongMessage(w http.ResponseWriter, r *http.Request, into any, most int64) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "The request is not application/json.")
	}
	body, err := readBody(w, r, most)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if d.Decode(into) != nil {
		return refuse(http.StatusBadRequest, "The request is not JSON of the right form.")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, "The request has something behind its JSON.")
	}
	return nil
}

func (s *Site) answerEnroll(w http.ResponseWriter, r *http.Request) (*reply, error) {
	var ask enrolment.AskEnrolment
	if err := readMessage(w, r, &ask); err != nil {
		return nil, err
	}
	code, err := s.centre.BeginEnrolment(r.Context(), ask, s.addressOf(r))
	switch {
	case errors.Is(err, centre.ErrTooOften):
		return nil, refuse(http.StatusTooManyRequests, "Too many laptops ask to be enrolled; wait some minutes and try again.")
	case errors.Is(err, centre.ErrNoKeys):
		return nil, refuse(http.StatusServiceUnavailable, err.Error())
	case err != nil:
		return nil, err
	}
	return s.newCodeReply(code, enrollPage), nil
}

func (s *Site) answerToken(w http.ResponseWriter, r *http.Request) (*reply, error) {
	var ask enrolment.AskToken
	if err := readMessage(w, r, &ask); err != nil {
		return nil, err
	}
	grant, refusal, err := s.centre.PollToken(r.Context(), ask.DeviceCode)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return &reply{http.StatusBadRequest, refusal}, nil
	}
	return &reply{http.StatusOK, grant}, nil
}

func (s *Site) answerBundle(w http.ResponseWriter, r *http.Request) (*reply, error) {
	// For most polls this is enough: the bundle itself is read only for a laptop that does not have it.
	newest, err := s.centre.Store.ListBundles(r.Context(), 1)
	if err != nil {
		return nil, err
	}
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if len(newest) > 0 && strings.TrimPrefix(strings.TrimSpace(known), "W/") == tagOf(&newest[0]) {
			s.centre.Figures.CountPoll(figures.Unchanged)
			w.Header().Set("ETag", tagOf(&newest[0]))
			w.WriteHeader(http.StatusNotModified)
			return nil, nil
		}
	}
	b, err := s.centre.Store.FindNewestBundle(r.Context())
	if errors.Is(err, store.ErrNone) {
		s.centre.Figures.CountPoll(figures.None)
		return &reply{http.StatusNotFound, enrolment.Refusal{Error: enrolment.NoBundle, Description: "No bundle is published yet."}}, nil
	}
	if err != nil {
		return nil, err
	}
	s.centre.Figures.CountPoll(figures.Sent)
	w.Header().Set("ETag", tagOf(&b))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(b.Bytes)))
	_, _ = w.Write(b.Bytes)
	return nil, nil
}

// tagOf returns the ETag of a bundle.
func tagOf(b *store.Bundle) string { return `"` + b.Digest + `"` }

func (s *Site) answerState(w http.ResponseWriter, r *http.Request, l store.Laptop) (*reply, error) {
	var report enrolment.Report
	if err := readMessage(w, r, &report); err != nil {
		return nil, err
	}
	if err := s.centre.TakeReport(r.Context(), l, report); err != nil {
		return nil, err
	}
	return &reply{http.StatusOK, enrolment.Told{Who: s.centre.IdentityOf(&l)}}, nil
}

func (s *Site) answerRecords(w http.ResponseWriter, r *http.Request, l store.Laptop) (*reply, error) {
	session, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, enrolment.RecordsPath), "/")
	if !centre.IsSegment(session, name) {
		return nil, refuse(http.StatusNotFound, "This is not the name of a segment of a record.")
	}
	if r.Method == http.MethodGet {
		held, err := s.centre.FindHeld(r.Context(), l.ID, name)
		return &reply{http.StatusOK, held}, err
	}
	query := r.URL.Query()
	at, err := strconv.ParseInt(query.Get("at"), 10, 64)
	if complete := query.Get("complete"); err != nil || at < 0 || complete != "" && complete != "1" {
		return nil, refuse(http.StatusBadRequest, "at must be the number of bytes that the centre holds, and complete, if it is there, 1.")
	}
	if !s.beginWork(l.ID, maxParts) {
		return nil, refuse(http.StatusTooManyRequests, fmt.Sprintf("%d parts of this laptop are being read; send one after the other.", maxParts))
	}
	defer s.endWork(l.ID)
	body, end, err := s.readPart(w, r)
	if err != nil {
		return nil, err
	}
	defer end()
	held, err := s.centre.TakePart(r.Context(), l, centre.Part{Laptop: l.ID, Session: session, Segment: name, At: at, Text: body, Complete: query.Get("complete") == "1"})
	if bound, ok := errors.AsType[*centre.BoundError](err); ok {
		return nil, refuse(http.StatusInsufficientStorage, bound.Error())
	}
	if errors.Is(err, centre.ErrElsewhere) {
		return &reply{http.StatusConflict, held}, nil
	}
	return &reply{http.StatusOK, held}, err
}

// readSize reads a number of heads from the query; 0 if the query has no such name.
func readSize(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, refuse(http.StatusBadRequest, name+" must be a number of heads.")
	}
	return n, nil
}

func (s *Site) answerCheckpoint(r *http.Request) (*reply, error) {
	old, err := readSize(r, "old")
	if err != nil {
		return nil, err
	}
	newest, err := s.centre.NewestCheckpoint(r.Context(), old)
	return &reply{http.StatusOK, newest}, err
}

func (s *Site) answerHeads(r *http.Request, l store.Laptop) (*reply, error) {
	size, err := readSize(r, "size")
	if err != nil {
		return nil, err
	}
	after := r.URL.Query().Get("after")
	if after != "" && !enrolment.IsName(after) {
		return nil, refuse(http.StatusBadRequest, "after must be the name of a segment.")
	}
	newest, err := s.centre.NewestSize(r.Context())
	if err != nil {
		return nil, err
	}
	if size > newest {
		return nil, refuse(http.StatusConflict, "The centre has no checkpoint of this size.")
	}
	if !s.beginWork(l.ID, maxParts) {
		return nil, refuse(http.StatusTooManyRequests, "The centre is busy with this laptop; ask again.")
	}
	defer s.endWork(l.ID)
	all, err := s.centre.ListHeld(r.Context(), l.ID, after, size)
	return &reply{http.StatusOK, all}, err
}
