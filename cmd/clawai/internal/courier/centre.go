// Package courier exchanges data between a laptop and its team's centre. It downloads bundles of
// rules, and uploads the record. It runs in a separate process (clawai enroll sync --stay), never
// in a session.
package courier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

const (
	requestTimeout = 30 * time.Second
	// maxAnswer is the maximum size of a JSON answer in bytes. A question fits even if all its
	// characters are escaped.
	maxAnswer = 4 << 20
	maxETag   = 200
	maxReason = 200 // maximum number of characters that are shown of a refusal
)

// Centre is a laptop's client for its team's centre.
type Centre struct {
	url, token string // token is "" before the enrolment
	http       *http.Client
	transport  *egress.Transport
}

// NewCentre returns a client for the centre at an address. The address must come from
// enrolment.ParseURL. NewCentre sends nothing.
func NewCentre(folders config.Folders, address, token string) *Centre {
	t := egress.Network{Folders: folders}.NewTransport(egress.Options{})
	return &Centre{address, token, &http.Client{
		Transport: t,
		Timeout:   requestTimeout,
		// A redirect is not followed, because another host must not get the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, t}
}

// Close closes idle connections.
func (c *Centre) Close() { c.transport.CloseIdleConnections() }

// StatusError is a response of the centre with an error status.
type StatusError struct {
	Code   int
	Reason string // the centre's unchanged reason: a code word and a description; "" if the centre gave no reason
	Text   string // only the description, for a person; "" if the centre gave no description
	held   *enrolment.Held
}

// Error returns the centre's response. If the centre refuses this laptop, the text also says what
// the person can do.
func (e *StatusError) Error() string {
	why := ""
	if e.Reason != "" {
		why = ": " + term.VisibleText(term.CutText(e.Reason, maxReason))
	}
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the centre does not know this laptop any more (%d%s); ask its owner, or end the enrolment with: clawai unenroll", e.Code, why)
	}
	return fmt.Sprintf("the centre answered %d %s%s", e.Code, http.StatusText(e.Code), why)
}

// Plain returns the centre's reason for a person who answers questions. It gives no advice about
// the laptop.
func (e *StatusError) Plain() error {
	text := e.Text
	if text == "" {
		text = fmt.Sprintf("%d %s %s", e.Code, http.StatusText(e.Code), e.Reason)
	}
	return errors.New("the centre says: " + term.VisibleText(strings.TrimSuffix(term.CutText(text, maxReason), ".")))
}

// send sends a request. The caller must close the body of the response. The parameter ok lists the
// accepted statuses. For any other status the error is a *StatusError.
func (c *Centre) send(ctx context.Context, method, path string, body []byte, kind string, header http.Header, ok ...int) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	r.Header.Set("User-Agent", "clawai")
	resp, err := c.http.Do(r)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err
		}
		return nil, fmt.Errorf("the centre at %s cannot be reached: %w", c.url, err)
	}
	for _, code := range ok {
		if resp.StatusCode == code {
			return resp, nil
		}
	}
	defer func() { _ = resp.Body.Close() }()
	failed := &StatusError{Code: resp.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	var said enrolment.Refusal
	if json.Unmarshal(text, &said) == nil {
		if failed.Reason = said.Error; said.Description != "" && said.Error != "" {
			failed.Text = said.Description
			failed.Reason += ", " + said.Description
		}
	}
	if held := (enrolment.Held{Size: -1}); resp.StatusCode == http.StatusConflict && json.Unmarshal(text, &held) == nil && held.Size >= 0 {
		failed.held = &held
	}
	return nil, failed
}

// ExchangeJSON sends a JSON document and decodes the response. The parameter in is the value to
// send, and the parameter out gets the response. Both may be nil.
func (c *Centre) ExchangeJSON(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	resp, err := c.send(ctx, method, path, body, "application/json", http.Header{"Accept": {"application/json"}}, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return readAnswer(resp, out)
}

func readAnswer(resp *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("the centre's answer ended early: %w", err)
	case len(text) > maxAnswer:
		return errors.New("the centre's answer is too long")
	case out == nil || resp.StatusCode == http.StatusNoContent:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the centre's answer is not what a centre of clawai says: %w; is this its address?", err)
	}
	return nil
}

// AskCode asks the centre for a code. A person then confirms the code on a page of the centre. path
// is the path of the request.
func (c *Centre) AskCode(ctx context.Context, path string, ask enrolment.AskEnrolment) (d enrolment.DeviceCode, err error) {
	if err = c.ExchangeJSON(ctx, http.MethodPost, path, ask, &d); err != nil {
		return d, err
	}
	if d.DeviceCode == "" || !isTypable(d.UserCode) {
		return d, errors.New("the centre gave no code that can be typed")
	}
	for _, page := range []*string{&d.VerificationURI, &d.Complete} {
		u, err := url.Parse(*page)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			*page = ""
		}
	}
	if d.VerificationURI == "" {
		return d, errors.New("the centre gave no page to confirm the code at")
	}
	if d.Interval <= 0 {
		d.Interval = 5
	}
	if d.ExpiresIn <= 0 {
		d.ExpiresIn = 15 * 60
	}
	d.Interval, d.ExpiresIn = min(d.Interval, 60), min(d.ExpiresIn, 3600)
	return d, nil
}

// isTypable reports whether a code has only characters that a person can type safely. Without this
// check, the centre could show the person any text as a code.
func isTypable(code string) bool {
	return code != "" && len(code) <= 32 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// AwaitGrant asks the centre at intervals until a person has confirmed the code (RFC 8628). It
// reads the response into granted. path is the path of the request.
func (c *Centre) AwaitGrant(ctx context.Context, path string, d enrolment.DeviceCode, granted any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(d.ExpiresIn)*time.Second, errors.New("nobody confirmed the code in time; run the command again"))
	defer cancel()
	for pause := time.Duration(d.Interval) * time.Second; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err := c.ExchangeJSON(ctx, http.MethodPost, path, enrolment.AskToken{DeviceCode: d.DeviceCode}, granted)
		if err == nil {
			return nil
		}
		refused, answered := errors.AsType[*StatusError](err)
		code := ""
		if answered {
			code, _, _ = strings.Cut(refused.Reason, ",")
		}
		switch {
		case code == enrolment.Pending:
		case code == enrolment.SlowDown:
			pause += 5 * time.Second
		case code == enrolment.Expired:
			return errors.New("nobody confirmed the code in time; run the command again")
		case code == enrolment.Refused:
			return errors.New("it was denied at the centre")
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !answered || refused.Code >= 500 || refused.Code == http.StatusTooManyRequests:
			pause = min(2*pause, time.Minute)
		default:
			return err
		}
	}
}

// fetched is the centre's response to the request for the bundle.
type fetched struct {
	src  []byte // the bundle; nil if the laptop already has it, or if the centre has none
	etag string
	none bool // the centre has no bundle
}

// fetchBundle downloads the bundle if the laptop does not have it yet. etag is the ETag of the
// laptop's bundle, or "" if it has none.
func (c *Centre) fetchBundle(ctx context.Context, etag string) (f fetched, err error) {
	h := http.Header{}
	if etag != "" {
		h.Set("If-None-Match", etag)
	}
	resp, err := c.send(ctx, http.MethodGet, enrolment.BundlePath, nil, "", h, http.StatusOK, http.StatusNotModified, http.StatusNotFound)
	if err != nil {
		return f, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusNotModified:
		if etag == "" {
			return f, errors.New("the centre says that a bundle is unchanged which this laptop does not have")
		}
		return fetched{etag: etag}, nil
	case http.StatusNotFound:
		// Another program at this address may also respond with 404. Only a body in the centre's
		// form proves that the centre has responded.
		var said enrolment.Refusal
		if err := readAnswer(resp, &said); err != nil {
			return f, err
		}
		if said.Error != enrolment.NoBundle {
			return f, errors.New("what answers at the centre's address is no centre of clawai: it does not say that there is no bundle")
		}
		return fetched{none: true}, nil
	}
	if f.src, err = io.ReadAll(io.LimitReader(resp.Body, bundle.MaxSize+1)); err != nil {
		return fetched{}, fmt.Errorf("the bundle came in part: %w", err)
	}
	if tag := resp.Header.Get("ETag"); len(tag) <= maxETag && !strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r > '~' }) {
		f.etag = tag
	}
	return f, nil
}

// SendReport sends a report about this laptop, and returns the centre's response.
func (c *Centre) SendReport(ctx context.Context, r enrolment.Report) (told enrolment.Told, err error) {
	err = c.ExchangeJSON(ctx, http.MethodPost, enrolment.StatePath, r, &told)
	return told, err
}

func segmentPath(session, segment string) string {
	return enrolment.RecordsPath + url.PathEscape(session) + "/" + url.PathEscape(segment)
}

// askHeld returns how many bytes of a segment the centre has.
func (c *Centre) askHeld(ctx context.Context, session, segment string) (h enrolment.Held, err error) {
	err = c.ExchangeJSON(ctx, http.MethodGet, segmentPath(session, segment), nil, &h)
	if refused, is := errors.AsType[*StatusError](err); is && refused.Code == http.StatusNotFound {
		return enrolment.Held{}, nil
	}
	if err == nil && h.Size < 0 {
		err = errors.New("the centre says that it holds less than nothing")
	}
	return h, err
}

// sendPortion sends a part of a segment. The parameter at is the offset of the part. If complete is
// true, the segment ends after this part. If the number of bytes that the centre holds is not this
// offset, moved is true and h has that number.
func (c *Centre) sendPortion(ctx context.Context, session, segment string, at int64, portion []byte, complete bool) (h enrolment.Held, moved bool, err error) {
	path := segmentPath(session, segment) + "?at=" + strconv.FormatInt(at, 10)
	if complete {
		path += "&complete=1"
	}
	resp, err := c.send(ctx, http.MethodPut, path, portion, "application/x-ndjson", nil, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent)
	if refused, is := errors.AsType[*StatusError](err); is && refused.held != nil {
		return *refused.held, true, nil
	}
	if err != nil {
		return h, false, err
	}
	defer func() { _ = resp.Body.Close() }()
	return enrolment.Held{Size: at + int64(len(portion)), Complete: complete}, false, readAnswer(resp, nil)
}
