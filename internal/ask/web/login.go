package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

// login admits one browser: a token works once, and the browser that used it sends a key from
// then on. Only hashes are kept.
//
// No cookie is set or read, because cookies ignore ports (RFC 6265, section 8.5): every other
// server on this machine's loopback address gets them, and can overwrite, duplicate or delete
// them. The page keeps the key in storage that other ports cannot reach, and sends it in a header
// of its own, which no other site can send without permission.
type login struct {
	mu      sync.Mutex
	token   *[32]byte
	session *session
}

// session is one browser that was admitted by a link.
type session struct {
	key   [32]byte // SHA-256 of the page's key
	ended chan struct{}

	mu   sync.Mutex
	sent map[string]sent // the pending requests that its page has
}

type sent struct {
	at    time.Time // time of the first send
	care  care
	whole bool // all of it was sent, so the page can have shown its end
}

// care is the requirement for an answer that allows a request.
type care uint8

const (
	denyOnly  care = iota // the request cannot be shown, or its page did not get it
	confirmed             // the request is dangerous, so a person must also confirm the answer
	routine
)

// keyHeader is the header with the page's key.
const keyHeader = "X-Clawai-Key"

func newSecret() (text string, hash [32]byte) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	text = base64.RawURLEncoding.EncodeToString(b[:])
	return text, sha256.Sum256([]byte(text))
}

func matchesSecret(hash [32]byte, text string) bool {
	h := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(hash[:], h[:]) == 1
}

func (d *login) newToken() string {
	text, hash := newSecret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.token = &hash
	return text
}

// exchangeToken exchanges the token for a key, once. It ends an earlier session. A wrong token
// changes nothing.
func (d *login) exchangeToken(token string) (key string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token == nil || !matchesSecret(*d.token, token) {
		return "", false
	}
	d.token = nil
	if d.session != nil {
		close(d.session.ended)
	}
	in := &session{ended: make(chan struct{}), sent: map[string]sent{}}
	key, in.key = newSecret()
	d.session = in
	return key, true
}

// close ends the session. No browser can enter any more.
func (d *login) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil {
		close(d.session.ended)
	}
	d.session, d.token = nil, nil
}

// findSession returns the session that sent the request; nil for a stranger.
func (s *Server) findSession(r *http.Request) *session {
	s.login.mu.Lock()
	in := s.login.session
	s.login.mu.Unlock()
	if in == nil || len(r.Header.Values(keyHeader)) != 1 || !matchesSecret(in.key, r.Header.Get(keyHeader)) {
		return nil
	}
	return in
}

// setPending records the sent pending requests, and drops the others.
func (in *session) setPending(pending map[string]*row, now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for id := range in.sent {
		if _, ok := pending[id]; !ok {
			delete(in.sent, id)
		}
	}
	for id, r := range pending {
		if _, ok := in.sent[id]; !ok {
			in.sent[id] = sent{now, r.care, r.Brief}
		}
	}
}

// addDetails records that the details of a request were sent, which may show more than its row.
func (in *session) addDetails(id string, c care) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if was, ok := in.sent[id]; ok {
		in.sent[id] = sent{was.at, min(was.care, c), true}
	}
}

// sentOf returns which parts of a request were sent to the page; the zero value if none was.
func (in *session) sentOf(id string) sent {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.sent[id]
}
