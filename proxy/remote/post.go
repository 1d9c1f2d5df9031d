package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// maxChallenges is how often a request is sent again with new credentials: once for a token (401),
// and once for a token with more rights (403).
const maxChallenges = 2

// postRoundTrip sends rt. It sends rt again after it has renewed the credentials, the session or
// the tool list.
func (u *Upstream) postRoundTrip(rt *roundTrip) (*http.Response, error) {
	if err := u.ensureStream(rt); err != nil {
		return nil, err
	}
	renewed, listed, again := false, false, false
	for challenged := 0; ; {
		u.mu.Lock()
		id := u.session.id
		u.mu.Unlock()
		resp, err := u.postOnce(rt)
		if err != nil && !again && isCut(err) && isRepeatable(&rt.frame) {
			again = true
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case wantsCredentials(resp) && u.o.Credentials != nil && challenged < maxChallenges:
			challenged++
			worth, err := u.o.Credentials.Challenged(rt.ctx, resp)
			if err != nil {
				drainBody(resp.Body)
				return nil, &signInError{err}
			}
			if !worth {
				return resp, nil
			}
			u.reopenStream()
		case resp.StatusCode == http.StatusNotFound && id != "" && !rt.era.modern && !renewed && rt.frame.Method != "initialize":
			renewed = true
			if !u.renewSession(rt, func() bool { return u.session.id == id }) {
				return resp, nil
			}
		case !listed && u.refreshTools(rt, resp):
			listed = true
		default:
			return resp, nil
		}
		drainBody(resp.Body)
	}
}

// postOnce sends rt once. The caller closes the body of the answer.
func (u *Upstream) postOnce(rt *roundTrip) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(rt.ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { rt.sent.fireOnce() },
	})
	to := u.o.URL.String()
	if at := u.postEndpoint(); at != "" {
		to = at
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(rt.frame.Raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	held := time.AfterFunc(openTimeout, func() { rt.held.fireOnce() }) // fetching credentials may take long, and other lines must not wait for it
	err = u.setHeaders(r, rt.era)
	held.Stop()
	if err != nil {
		return nil, err
	}
	if rt.era.modern && rt.frame.Kind == frame.Request {
		mirrorHeaders(r.Header, &rt.frame, u.headerBindings(&rt.frame))
	}
	resp, err := DoRequest(u.http, r)
	if err == nil && u.o.Credentials != nil && !wantsCredentials(resp) {
		u.o.Credentials.Accepted(r)
	}
	return resp, err
}

// isCut reports whether the connection ended before the answer began. The server may still have
// executed the request.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// isRepeatable reports whether the message may be sent twice without a further effect.
func isRepeatable(f *frame.Frame) bool {
	return f.Method == "ping" || f.Method == "initialize" || f.Method == "notifications/initialized" || f.Kind == frame.Request && strings.HasSuffix(f.Method, "/list")
}

// wantsCredentials reports whether the status asks for other credentials.
func wantsCredentials(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// setHeaders sets the headers of every request.
func (u *Upstream) setHeaders(r *http.Request, e era) error {
	maps.Copy(r.Header, u.o.Header)
	r.Header.Set("Accept-Encoding", "identity")
	u.setSessionHeaders(r.Header, e)
	if u.o.Credentials == nil {
		return nil
	}
	if err := u.o.Credentials.Apply(r.Context(), r); err != nil {
		return &credentialsError{err}
	}
	return nil
}

func (u *Upstream) headerBindings(f *frame.Frame) []binding {
	if f.Method != "tools/call" {
		return nil
	}
	return u.tools.toolBindings(gjson.GetBytes(f.Params, "name").Str)
}

// signInError means that the server asked for a sign-in and the sign-in failed.
type signInError struct{ error }

func (n *signInError) Unwrap() error { return n.error }

// credentialsError means that a request got no credentials and was therefore not sent.
type credentialsError struct{ error }

func (n *credentialsError) Unwrap() error { return n.error }

// explainError returns an error of a request as text for people. An error of net/http may quote the
// server, so the code that shows the text must escape it.
func (u *Upstream) explainError(err error) string {
	if _, ok := errors.AsType[*signInError](err); ok && !errors.Is(err, context.Canceled) {
		return "the server wants a sign-in: " + err.Error()
	}
	if failed, ok := errors.AsType[*credentialsError](err); ok && !errors.Is(err, context.Canceled) {
		return failed.Error()
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "the request was given up"
	case errors.Is(err, context.DeadlineExceeded):
		return "the server did not answer in time"
	}
	if refused, ok := errors.AsType[*endpointError](err); ok {
		return refused.Error()
	}
	return "the server cannot be reached: " + err.Error()
}

// drainBody reads the rest of a body, so that the connection can be used again. It stops after 64
// KiB or after drainTimeout.
func drainBody(body io.ReadCloser) {
	const rest = 64 << 10
	late := time.AfterFunc(drainTimeout, func() { _ = body.Close() })
	_, _ = io.CopyN(io.Discard, body, rest)
	late.Stop()
	_ = body.Close()
}
