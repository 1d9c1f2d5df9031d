package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/egress"
)

const maxAnswer = 1 << 20 // bytes of one answer

func newClient() *http.Client {
	return &http.Client{
		Transport: cautious{egress.Network{}.NewTransport(egress.Options{})}, Timeout: RequestTime,
		// A redirect could lead a secret elsewhere, or fetch keys in clear.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// cautious bounds answers, which its users read whole.
type cautious struct{ next http.RoundTripper }

func (c cautious) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// dated keeps the time at which an answer was made.
type dated struct {
	next http.RoundTripper
	date time.Time
}

func (d *dated) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err == nil {
		d.date, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	return resp, err
}

// errSeldom is the error of a question for keys that comes too soon.
var errSeldom = errors.New("the keys were asked for several times within a minute, and no key has signed the token")

// seldom bounds how often the keys are asked for: each token with the name of an unknown key asks.
type seldom struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	times []time.Time
}

func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	now := s.now()
	s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return now.Sub(t).Abs() >= KeysEvery })
	often := len(s.times) >= MostKeys
	if !often {
		s.times = append(s.times, now)
	}
	s.mu.Unlock()
	if often {
		return nil, errSeldom
	}
	return s.next.RoundTrip(r)
}

// signingKeys leaves of a set of keys those that may verify signatures (RFC 7517 sections 4.2 and 4.3). The
// library takes each key for every use.
type signingKeys struct{ next http.RoundTripper }

func (s signingKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	src, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	src, err = keepSigningKeys(src)
	if err != nil {
		return nil, fmt.Errorf("jwks_uri: the answer is no set of keys: %w", err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(src)), int64(len(src))
	return resp, nil
}

func keepSigningKeys(src []byte) ([]byte, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(src, &set); err != nil {
		return nil, err
	}
	kept := []json.RawMessage{}
	for _, one := range set.Keys {
		var key struct {
			Type string   `json:"kty"`
			Use  string   `json:"use"`
			Ops  []string `json:"key_ops"`
		}
		if err := json.Unmarshal(one, &key); err != nil {
			return nil, err
		}
		if key.Type != "oct" && (key.Use == "" || key.Use == "sig") && (key.Ops == nil || slices.Contains(key.Ops, "verify")) {
			kept = append(kept, one)
		}
	}
	return json.Marshal(map[string]any{"keys": kept})
}
