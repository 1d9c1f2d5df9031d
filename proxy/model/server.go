package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// Options are the parameters of NewServer. Every field is required unless its comment says
// otherwise.
type Options struct {
	Client    *client.Row       // the agent
	Cwd       string            // folder where the agent's relative paths start
	Upstream  *url.URL          // the service's address, which takes the place of ours
	Transport http.RoundTripper // must not decompress by itself
	Secret    string            // the beginning of every path; a request without it is refused

	Gate   *gate.Session
	Labels Labels // nil means that no labels are kept

	// KeepAlive is the interval of keep-alive events on a client's stream while a call waits;
	// default 5 s.
	KeepAlive time.Duration

	// Judge means that calls are held until they are judged. All means that calls are judged even
	// if another transport judges them too (see Covers).
	Judge, All bool
	// Covers returns the other transport that judges a call. Because of this, only one of the two
	// transports asks a person. peer is the address of the client's connection.
	Covers func(peer string, req *client.Request) Cover
	// Denies reports whether a rule denies calls, whatever the labels of the session are. nil means
	// that there is no such rule.
	Denies func(calls []policy.Call) bool
	// Servers returns the servers in the client's files (see hook.Options.Servers).
	Servers func() (owners, others []string)
	// Join links the client's session with this id to the session of the gate. JoinPeer links the
	// process that has connected from this address. nil means that nothing is linked.
	Join, JoinPeer func(string) error
}

// Labels holds the labels of the agent's session.
type Labels interface {
	Brought(message *gate.Exchange) []gate.Label
	Add(labels []gate.Label, message []byte) error
	Called(cs []policy.Call) error
}

// Cover tells which other transport judges a call.
type Cover uint8

// The covers.
const (
	Uncovered Cover = iota
	ByHook          // the client's hook judges and records the call, but does not see the result
	ByProxy         // a proxy in front of the tool's server judges, records and labels the call and the result
)

// Server is the HTTP handler between an agent and the service of its model.
type Server struct {
	o       Options
	relay   httputil.ReverseProxy
	offered map[modelapi.API][]madeCall // for each API, one call without arguments for each tool that the service can run
	memory
}

// NewServer returns a Server.
func NewServer(o Options) *Server {
	o.KeepAlive = cmp.Or(o.KeepAlive, 5*time.Second)
	s := &Server{o: o, memory: newMemory(), offered: map[modelapi.API][]madeCall{}}
	for api := modelapi.NoAPI + 1; api <= modelapi.Gemini; api++ {
		for _, kind := range modelapi.OfferKinds(api) {
			s.offered[api] = append(s.offered[api], (&turn{Server: s}).offeredCall(kind))
		}
	}
	s.relay = httputil.ReverseProxy{
		Transport: o.Transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), BufferPool: &bodyBuffers,
		Rewrite: s.rewriteRequest, ModifyResponse: s.watchResponse, ErrorHandler: s.answerFailure,
	}
	return s
}

// turn is one request with its reply.
type turn struct {
	*Server
	api     modelapi.API
	session string // session and agent are ids from the client; "" if it gives none
	agent   string
	peer    string // the address of the client's connection
	ctx     context.Context
	begin   *http.ResponseController
	passing *passage // not nil if the request is forwarded before it is judged
}

type turnKey struct{}

// sessionHeaders are the headers with the id of the client's session. agentHeaders are the headers
// with the id of an agent that the client's agent has started.
var (
	sessionHeaders = []string{"X-Claude-Code-Session-Id", "Session-Id", "Session_id"}
	agentHeaders   = []string{"X-Claude-Code-Agent-Id", "X-Openai-Subagent"}
)

func firstHeader(h http.Header, names []string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// SessionOf returns the id of the client's session from the headers of a request. It returns "" if
// there is none.
func SessionOf(h http.Header) string { return firstHeader(h, sessionHeaders) }

// ServeHTTP forwards one request and its reply.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := s.checkRequest(r); why != "" {
		http.Error(w, "clawai: "+why, status)
		return
	}
	t := &turn{Server: s, api: modelapi.FindAPI(r.URL.Path), session: SessionOf(r.Header), agent: firstHeader(r.Header, agentHeaders), peer: r.RemoteAddr, begin: http.NewResponseController(w)}
	if r.Method != http.MethodPost {
		t.api = modelapi.NoAPI
	}
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	t.ctx = context.WithValue(ctx, turnKey{}, t)
	r = r.WithContext(t.ctx)
	if err := t.readRequest(r, leave); err != nil {
		if t.api == modelapi.NoAPI {
			t.api = modelapi.FindCounted(r.URL.Path)
		}
		t.answerError(w, err)
		return
	}
	// The request must be judged and recorded before its handler ends, because the session may be
	// closed after that. This is so even if net/http/httputil panics to abort the reply.
	defer t.endLook()
	if b, is := r.Body.(*passingBody); is {
		defer b.endBody()
	}
	s.relay.ServeHTTP(w, r)
}

// checkRequest refuses requests that a web page could make a browser send, and requests without the
// secret. It removes the secret from the path. why is "" if the request is accepted.
func (s *Server) checkRequest(r *http.Request) (status int, why string) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	switch {
	case host != "localhost" && (ip == nil || !ip.IsLoopback()):
		return http.StatusForbidden, "this host name is not clawai's"
	case len(r.Header.Values("Origin")) > 0, r.Header.Get("Sec-Fetch-Site") == "cross-site":
		return http.StatusForbidden, "no page of a browser may use this address"
	case r.Method == http.MethodConnect, r.URL.Host != "":
		return http.StatusForbidden, "this is not a proxy for other hosts"
	case r.Header.Get("Upgrade") != "":
		return http.StatusUpgradeRequired, "this address speaks HTTP alone"
	}
	n := len(s.o.Secret) + 1
	if path := r.URL.Path; len(path) <= n || path[n] != '/' || subtle.ConstantTimeCompare([]byte(path[1:n]), []byte(s.o.Secret)) != 1 {
		return http.StatusNotFound, "there is nothing here"
	}
	rest := r.URL.Path[n+1:]
	if slices.Contains(strings.Split(rest, "/"), "..") {
		return http.StatusBadRequest, "the path leads up"
	}
	r.URL.Path, r.URL.RawPath = "/"+rest, strings.TrimPrefix(r.URL.RawPath, "/"+s.o.Secret)
	return 0, ""
}

// refusal is an error for the agent, with an HTTP status.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// readRequest reads the conversation in the request and sets the body that is forwarded. leave
// cancels the request and its reply.
func (t *turn) readRequest(r *http.Request, leave func()) error {
	if t.joinOnce(t.session, t.o.Join) != nil || t.joinOnce(r.RemoteAddr, t.o.JoinPeer) != nil {
		return errLabels
	}
	if t.api == modelapi.NoAPI {
		if api := modelapi.FindCounted(r.URL.Path); api != modelapi.NoAPI && r.Method == http.MethodPost && t.screensUploads() {
			return t.readCounted(r, api, leave)
		}
		if err := t.uploadElsewhere(r); err != nil {
			return err
		}
		if t.o.Judge && strings.Contains(r.URL.Path, "/responses/") && r.Method == http.MethodGet {
			return &refusal{http.StatusBadRequest, "a reply that is fetched later is not judged; have the client stream it"}
		}
		if r.Method == http.MethodPost && !modelapi.IsSilent(r.URL.Path) && t.noteOnce("path "+r.URL.Path) {
			t.noteUnread("client", "requests to "+shortenText(r.URL.Path), 0)
		}
		return nil
	}
	return t.readRequestBody(r, leave)
}

// readRequestBody judges the body of a request with a conversation, or prepares the judgement of a
// body that is forwarded first. It sets the body that is forwarded.
func (t *turn) readRequestBody(r *http.Request, leave func()) error {
	coding := strings.Join(r.Header.Values("Content-Encoding"), ", ")
	waits, words := t.changesAny(), t.wordsToChange()
	if n := r.ContentLength; 0 < n && n <= modelapi.MaxText && isPlain(coding) && !waits && len(words) == 0 {
		t.passing = t.lookMeanwhile()
		r.Body = t.passBody(r.Body, n, leave)
		return nil
	}
	body, err := readBody(r)
	if err != nil {
		return &refusal{http.StatusBadRequest, "the request was cut off"}
	}
	if len(body) > modelapi.MaxText {
		if t.o.Judge {
			return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is longer than the %d MiB that clawai reads", modelapi.MaxText>>20)}
		}
		r.Body = joinBody(body, r.Body)
		return t.distrustRequest("a request of more than "+strconv.Itoa(modelapi.MaxText>>20)+" MiB", body)
	}
	text, err := decodeWhole(body, coding)
	if err != nil {
		r.Body = joinBody(body, http.NoBody)
		return t.distrustRequest("a request in the encoding "+shortenText(coding), body)
	}
	sent := body
	if waits || mayHold(text, words) {
		edited, err := t.readConversation(text)
		if err != nil {
			return err
		}
		if !bytes.Equal(edited, text) {
			sent = edited
			r.Header.Del("Content-Encoding")
		}
	} else {
		t.passing = t.lookMeanwhile()
		t.passing.whole.Store(true)
		t.passing.gone <- func() []byte { return text }
	}
	r.Body = joinBody(sent, http.NoBody)
	if r.ContentLength >= 0 {
		r.ContentLength = int64(len(sent))
		r.Header.Set("Content-Length", strconv.Itoa(len(sent)))
	}
	return nil
}

// readBody reads the body of a request. If the body is too long, it reads one byte more than the
// limit, so that the caller can see this.
func readBody(r *http.Request) ([]byte, error) {
	const most = modelapi.MaxText + 1
	if n := r.ContentLength; n >= 0 && n < most {
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(io.LimitReader(r.Body, most))
}

func joinBody(read []byte, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), rest), rest}
}

// rewriteRequest sends a request to the service's address. With Judge it also changes the accepted
// encodings. It changes nothing else.
func (s *Server) rewriteRequest(p *httputil.ProxyRequest) {
	to := s.o.Upstream
	p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, to.Host
	p.Out.URL.Path = strings.TrimSuffix(to.Path, "/") + p.In.URL.Path
	p.Out.URL.RawPath = ""
	if raw := p.In.URL.RawPath; raw != "" {
		p.Out.URL.RawPath = strings.TrimSuffix(to.EscapedPath(), "/") + raw
	}
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, has := p.In.Header[name]; has {
			p.Out.Header[name] = v
		}
	}
	if t := turnOf(p.In.Context()); t.api != modelapi.NoAPI && s.o.Judge {
		p.Out.Header.Set("Accept-Encoding", "identity") // clawai must be able to read the reply to judge it
	}
}

func turnOf(ctx context.Context) *turn { return ctx.Value(turnKey{}).(*turn) }

// answerFailure answers a request with an error, because the service could not be reached or clawai
// has refused the request.
func (s *Server) answerFailure(w http.ResponseWriter, r *http.Request, err error) {
	t := turnOf(r.Context())
	if own, ok := errors.AsType[*refusal](err); ok {
		t.answerError(w, own)
		return
	}
	t.answerError(w, &refusal{http.StatusBadGateway, "clawai cannot reach the service of the model: " + err.Error()})
}

// answerError answers with an error in the service's form.
func (t *turn) answerError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if r, ok := errors.AsType[*refusal](err); ok {
		status = r.status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorBody(t.api, status, "clawai: "+err.Error()))
}

// noteUnread records that a message, or a part of it, was not judged, because it could not be read.
func (t *turn) noteUnread(from, what string, size int) {
	_ = t.o.Gate.NoteEvents(&event.Event{
		Kind: event.Passed, Server: t.o.Client.ID, Direction: from, Method: UnreadMethod, Code: "not_looked_at",
		Detail: t.describeTurn(), Reason: "not looked at: " + what, Bytes: size, Time: time.Now(),
	})
}

// UnreadMethod is the method in the record for a message that was not judged.
const UnreadMethod = "model/unread"

// EditedMethod is the method in the record for a message that was changed.
const EditedMethod = "model/edited"

// noteEdit records the digests of a message before and after a change. If it returns an error, the
// message must not be sent.
func (t *turn) noteEdit(from string, came, sent []byte, altered ...string) error {
	err := t.o.Gate.NoteEvents(&event.Event{
		Kind: event.Passed, Server: t.o.Client.ID, Direction: from, Method: EditedMethod, Detail: t.describeTurn(), Time: time.Now(),
		Digest: sha256.Sum256(came), Bytes: len(came), Sent: sha256.Sum256(sent), Altered: altered,
	})
	if err != nil {
		return errLabels
	}
	return nil
}

// describeTurn returns a text for the record with the agent, the API and the session of the
// request.
func (t *turn) describeTurn() string {
	text := "model channel of " + t.o.Client.ID + ", " + t.api.String()
	if t.session != "" {
		text += ", session " + shortenText(t.session)
	}
	if t.agent != "" {
		text += ", agent " + shortenText(t.agent)
	}
	return text
}

// distrustRequest handles a request that could not be read. It records this. It treats the request
// as one that may hold anything: the session gets every label, and every rule about uploads or
// tools of the service may apply.
func (t *turn) distrustRequest(what string, body []byte) error {
	t.noteUnread("client", what, 0)
	if err := t.callUnknown(UnreadMethod); err != nil {
		return err
	}
	if err := t.refuseUnread(what, body); err != nil {
		return err
	}
	return t.uploadUnread("a request", body)
}

// readCounted reads a request that sends a conversation to a path whose replies hold no calls, for
// example to count the tokens.
func (t *turn) readCounted(r *http.Request, api modelapi.API, leave func()) error {
	counted := *t
	counted.api = api
	defer func() { t.passing = counted.passing }()
	return counted.readRequestBody(r, leave)
}

// shortenText returns the first 100 bytes of an untrusted text.
func shortenText(s string) string {
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
