// Package centretest is a team's centre for tests of a laptop. It answers as docs/team.md says and
// keeps all data in memory. A test can make it fail.
package centretest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Centre is a centre in memory. A test must set the exported fields before it uses the centre.
type Centre struct {
	Offline enrolment.Offline
	Answer  string // error code (RFC 8628) of the answer to a poll for a token; "" grants a token at once

	Secret, Public string // the keys for signing bundles

	mu       sync.Mutex
	server   *httptest.Server
	tokens   map[string]string // the laptop of each token
	bundle   []byte
	who      *enrolment.Identity
	fail     int // status of every answer; 0 means the usual answers
	segments map[string]*stored
	reports  []enrolment.Report
	requests []string
	begun    int
	failPuts int // number of the next PUTs that store half of the body and then close the connection
}

type stored struct {
	text     []byte
	complete bool
}

// Start starts a centre on a loopback port. The centre ends with the test.
func Start(t testing.TB) *Centre {
	t.Helper()
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Open starts a centre on a loopback port. The caller must close it.
func Open() (*Centre, error) {
	c := &Centre{Offline: enrolment.Offline{Days: 7, Then: enrolment.Keep}, tokens: map[string]string{}, segments: map[string]*stored{}}
	var err error
	if c.Secret, c.Public, err = bundle.NewKey("team.example"); err != nil {
		return nil, err
	}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	return c, nil
}

// Close ends the centre.
func (c *Centre) Close() {
	c.server.CloseClientConnections()
	c.server.Close()
}

// URL returns the centre's address.
func (c *Centre) URL() string { return c.server.URL }

// Sign returns a signed bundle. It contains a policy and the further files `more`.
func (c *Centre) Sign(t testing.TB, counter uint64, policy string, more ...bundle.File) []byte {
	t.Helper()
	src, err := bundle.Write(bundle.Bundle{Counter: counter, Created: time.Now(), Files: append([]bundle.File{{Name: bundle.PolicyName, Text: []byte(policy)}}, more...)})
	if err == nil {
		src, err = bundle.Sign(src, c.Secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Refuse makes the centre answer polls for a token with an error code (RFC 8628). "" ends this.
func (c *Centre) Refuse(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Answer = code
}

// Publish sets the bundle that laptops download. nil means that there is none.
func (c *Centre) Publish(src []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bundle = src
}

// Tell sets the owner whom the centre names to laptops. nil means that it names nobody.
func (c *Centre) Tell(who *enrolment.Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.who = who
}

// Fail makes the centre answer every request with this status. 0 ends this.
func (c *Centre) Fail(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = status
}

// CutPuts makes the next n uploads fail after the centre has stored half of the bytes.
func (c *Centre) CutPuts(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failPuts = n
}

// Forget makes the tokens of all laptops invalid, as if they were revoked.
func (c *Centre) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens)
}

// Segments returns the bytes of the uploaded segments, and whether each segment is complete. The
// keys are LAPTOP/SESSION/SEGMENT.
func (c *Centre) Segments() (texts map[string]string, complete map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts, complete = map[string]string{}, map[string]bool{}
	for name, s := range c.segments {
		texts[name], complete[name] = string(s.text), s.complete
	}
	return texts, complete
}

// Reports returns the reports that laptops have sent, the oldest first.
func (c *Centre) Reports() []enrolment.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]enrolment.Report{}, c.reports...)
}

// Requests returns the requests so far, each as "METHOD PATH STATUS".
func (c *Centre) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.requests...)
}

func (c *Centre) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	status, answer := c.answer(w, r, body)
	c.requests = append(c.requests, fmt.Sprintf("%s %s %d", r.Method, r.URL.RequestURI(), status))
	if raw, is := answer.([]byte); is {
		w.WriteHeader(status)
		_, _ = w.Write(raw) //nolint:gosec // the bundle is from the test
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNotModified && status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func refuse(code string) enrolment.Refusal { return enrolment.Refusal{Error: code} }

func (c *Centre) answer(w http.ResponseWriter, r *http.Request, body []byte) (int, any) {
	if c.fail != 0 {
		return c.fail, refuse("failing")
	}
	switch r.Method + " " + r.URL.Path {
	case "POST " + enrolment.EnrollPath:
		var ask enrolment.AskEnrolment
		if json.Unmarshal(body, &ask) != nil || ask.OS == "" || ask.Version == "" {
			return http.StatusBadRequest, refuse("invalid_request")
		}
		c.begun++
		return http.StatusOK, enrolment.DeviceCode{DeviceCode: "device-" + strconv.Itoa(c.begun), UserCode: "ABCD-EFGH", VerificationURI: c.server.URL + "/enroll", ExpiresIn: 60, Interval: 1}
	case "POST " + enrolment.TokenPath:
		var ask enrolment.AskToken
		if json.Unmarshal(body, &ask) != nil || !strings.HasPrefix(ask.DeviceCode, "device-") {
			return http.StatusBadRequest, refuse(enrolment.Expired)
		}
		if c.Answer != "" {
			code := c.Answer
			if code == enrolment.Pending { // the next poll gets a token
				c.Answer = ""
			}
			return http.StatusBadRequest, refuse(code)
		}
		laptop := "lp-" + strings.TrimPrefix(ask.DeviceCode, "device-")
		c.tokens["secret-"+laptop] = laptop
		return http.StatusOK, enrolment.Grant{Laptop: laptop, Token: "secret-" + laptop, BundleKeys: []string{c.Public}, Offline: c.Offline}
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	laptop, known := c.tokens[token]
	if !known {
		return http.StatusUnauthorized, refuse("invalid_token")
	}
	switch {
	case r.Method == http.MethodGet && r.URL.Path == enrolment.BundlePath:
		if c.bundle == nil {
			return http.StatusNotFound, refuse(enrolment.NoBundle)
		}
		sum := sha256.Sum256(c.bundle)
		etag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			return http.StatusNotModified, nil
		}
		return http.StatusOK, c.bundle
	case r.Method == http.MethodPost && r.URL.Path == enrolment.StatePath:
		var report enrolment.Report
		if json.Unmarshal(body, &report) != nil {
			return http.StatusBadRequest, refuse("invalid_request")
		}
		c.reports = append(c.reports, report)
		if c.who == nil { // an old centre does not know owners
			return http.StatusNoContent, nil
		}
		return http.StatusOK, enrolment.Told{Who: c.who}
	case segmentPath.MatchString(r.URL.Path):
		return c.takeSegment(laptop, r, body)
	}
	return http.StatusNotFound, refuse("no_such_path")
}

var segmentPath = regexp.MustCompile(`^/v1/records/[a-z0-9]+/[0-9TZ.]+-[a-z0-9]+\.ndjson$`)

func (c *Centre) takeSegment(laptop string, r *http.Request, body []byte) (int, any) {
	name := laptop + "/" + strings.TrimPrefix(r.URL.Path, enrolment.RecordsPath)
	s := c.segments[name]
	if s == nil {
		s = &stored{}
	}
	held := func() enrolment.Held { return enrolment.Held{Size: int64(len(s.text)), Complete: s.complete} }
	if r.Method == http.MethodGet {
		return http.StatusOK, held()
	}
	if r.Method != http.MethodPut {
		return http.StatusMethodNotAllowed, refuse("method")
	}
	if at, err := strconv.Atoi(r.URL.Query().Get("at")); err != nil || at != len(s.text) || s.complete {
		return http.StatusConflict, held()
	}
	c.segments[name] = s
	if c.failPuts > 0 {
		c.failPuts--
		s.text = append(s.text, body[:len(body)/2]...)
		panic(http.ErrAbortHandler)
	}
	s.text = append(s.text, body...)
	s.complete = r.URL.Query().Get("complete") == "1"
	return http.StatusOK, held()
}
