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

// login lets one browser in. The token of a link works once, and the browser gets a key for it,
// which it sends with each request. Only hashes are stored.
//
// Cookies are not used, because they ignore ports (RFC 6265, section 8.5): every other server on
// the loopback address of this machine gets them, and can overwrite, duplicate or delete them. The
// page keeps the key in storage that other ports cannot reach. It sends the key in a header of its
// own, which another site cannot send without permission.
type login struct {
	mu      sync.Mutex
	token   *[32]byte
	session *session
}

// session is the browser that a link has let in.
type session struct {
	key   [32]byte // SHA-256 of the key
	ended chan struct{}

	mu   sync.Mutex
	sent map[string]sent // the pending requests that were sent to the page, by id
}

type sent struct {
	at    time.Time // when the request was first sent
	care  care
	whole bool // the whole request was sent, so the page can have shown its end
}

// care is what an answer needs in order to allow a request.
type care uint8

const (
	denyOnly  care = iota // no answer allows: the request cannot be shown, or was not sent to this page
	confirmed             // the request is dangerous, so the person must also confirm
	routine
)

// keyHeader is the header in which the page sends its key.
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

// exchangeToken returns a new key for the token of a link. The token works once. An earlier session
// ends. A wrong token changes nothing.
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

// close ends the session, and no browser can get in any more.
func (d *login) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil {
		close(d.session.ended)
	}
	d.session, d.token = nil, nil
}

// findSession returns the session of a request; nil if the request does not have its key.
func (s *Server) findSession(r *http.Request) *session {
	s.login.mu.Lock()
	in := s.login.session
	s.login.mu.Unlock()
	if in == nil || len(r.Header.Values(keyHeader)) != 1 || !matchesSecret(in.key, r.Header.Get(keyHeader)) {
		return nil
	}
	return in
}

// setPending records which pending requests were sent, and forgets all others.
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

// addDetails records that the details of a request were sent, with the care that they show. The
// details can need more care than the row.
func (in *session) addDetails(id string, c care) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if was, ok := in.sent[id]; ok {
		in.sent[id] = sent{was.at, min(was.care, c), true}
	}
}

// sentOf returns what was sent of a request; the zero value if nothing was sent.
func (in *session) sentOf(id string) sent {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.sent[id]
}
