package issuer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/clawai/clawai/internal/state/egress"
)

const (
	maxAnswer = 1 << 20 // maximum bytes of one response
	maxSaid   = 300     // maximum bytes of an error text; the text may contain a response
)

// KeysError means that the issuer did not provide its keys. The token may still be valid.
type KeysError struct{ error }

// Unwrap returns the error of the request for keys.
func (e *KeysError) Unwrap() error { return e.error }

// shortenError returns an error with a short text on one line, because an issuer's response must not
// fill the log or forge lines in it.
func shortenError(err error) error {
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || unicode.IsControl(r) }), " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return errors.New(text)
}

// errNoKeys means that the issuer did not provide keys after a request.
var errNoKeys = errors.New("it does not give its keys (jwks_uri)")

// watched is a set of keys that stores the error of a failed request for keys. The library's own error
// keeps only the text of this error.
type watched struct {
	oidc.KeySet
	failed error
}

// VerifySignature implements oidc.KeySet.
func (w *watched) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	src, err := w.KeySet.VerifySignature(ctx, raw)
	if errors.Is(err, errNoKeys) {
		w.failed = err
	}
	return src, err
}

// lookAtKeys requests the keys. It returns an error if the issuer has no key for signatures.
func (m *Metadata) lookAtKeys(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.keysAt, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := m.client.Do(r)
	if err != nil {
		return shortenError(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return err
	}
	if len(set.Keys) == 0 {
		return fmt.Errorf("%w: %s has none for signatures", errNoKeys, m.keysAt)
	}
	return nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: cautious{egress.Network{}.NewTransport(egress.Options{})}, Timeout: RequestTime,
		// A redirect could send a secret to another host, or load keys over plain HTTP.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// cautious limits the size of responses, because their readers read the whole response.
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

// dated stores the Date header of the last response.
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

// errSeldom means that the limit of requests for keys was reached. The token may still be valid,
// because its key may be new.
var errSeldom = fmt.Errorf("%w: they were asked for several times within a minute, and no key that is known has signed the token", errNoKeys)

// seldom limits the number of requests for keys, because each token with an unknown key causes a
// request.
type seldom struct {
	next http.RoundTripper
	now  func() time.Time

	mu     sync.Mutex
	times  []time.Time
	failed error // error of the last request; nil if it succeeded
}

func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	now := s.now()
	s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return now.Sub(t).Abs() >= KeysEvery })
	often := len(s.times) >= MostKeys
	if !often {
		s.times = append(s.times, now)
	}
	failed := s.failed
	s.mu.Unlock()
	switch {
	case often && failed != nil:
		return nil, failed
	case often:
		return nil, errSeldom
	}
	resp, err := s.next.RoundTrip(r)
	s.mu.Lock()
	s.failed = err
	s.mu.Unlock()
	return resp, err
}

// signingKeys removes from a set of keys all keys that must not verify signatures (RFC 7517 sections
// 4.2 and 4.3). The library would use each key for every purpose.
type signingKeys struct{ next http.RoundTripper }

func (s signingKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoKeys, err)
	}
	defer func() { _ = resp.Body.Close() }()
	src, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errNoKeys, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %s", errNoKeys, resp.Status)
	case len(src) >= maxAnswer:
		return nil, fmt.Errorf("%w: the answer has more than %d bytes", errNoKeys, maxAnswer)
	}
	src, err = keepSigningKeys(src)
	if err != nil {
		return nil, fmt.Errorf("%w: the answer is no set of keys: %w", errNoKeys, err)
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
