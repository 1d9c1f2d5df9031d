package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// client talks to the centre about one question.
type client struct {
	joined     enrolment.Enrolment
	http       http.Client
	unanswered bool // the centre has not answered the last request
}

func newClient(e enrolment.Enrolment, t http.RoundTripper) *client {
	return &client{joined: e, http: http.Client{
		Transport: t,
		// Follow no redirect, because another host must not get the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// isEnrolled reports whether this laptop is still enrolled at the client's centre. After the owner
// has left the centre, answers of the centre must not allow anything.
func (c *client) isEnrolled(state string) bool {
	now, err := enrolment.ReadEnrolment(state)
	return err == nil && now.URL == c.joined.URL && now.Token == c.joined.Token
}

// refusalError is a refusal from the centre.
type refusalError struct {
	status int
	text   string // harmless
}

func (e *refusalError) Error() string {
	return fmt.Sprintf("the centre answered %d: %s", e.status, e.text)
}

var errGarbage = errors.New("what answers at the address of the team's centre is no centre")

// isFinal reports whether the centre would refuse the same request again.
func isFinal(err error) bool {
	refused, ok := errors.AsType[*refusalError](err)
	return ok && refused.status < 500 && refused.status != http.StatusTooManyRequests
}

const (
	maxAnswer = 64 << 10
	maxReason = 200
	pollWait  = 20               // seconds that the centre may wait for an answer in one request
	quickTime = 10 * time.Second // time limit for requests that the centre answers at once
)

func (c *client) putQuestion(ctx context.Context, message []byte) (enrolment.QuestionState, error) {
	return c.exchange(ctx, http.MethodPost, enrolment.QuestionsPath, message, quickTime)
}

func (c *client) awaitQuestion(ctx context.Context, id string) (enrolment.QuestionState, error) {
	return c.exchange(ctx, http.MethodGet, fmt.Sprintf("%s/%s?wait=%d", enrolment.QuestionsPath, id, pollWait), nil, pollWait*time.Second+quickTime)
}

func (c *client) useApproval(ctx context.Context, id string) (enrolment.QuestionState, error) {
	return c.exchange(ctx, http.MethodPost, enrolment.QuestionsPath+"/"+id+"/use", nil, quickTime)
}

func (c *client) cancelQuestion(ctx context.Context, id string) error {
	_, err := c.exchange(ctx, http.MethodDelete, enrolment.QuestionsPath+"/"+id, nil, quickTime)
	return err
}

// exchange sends a request and returns the state of the question from the centre's answer.
func (c *client) exchange(ctx context.Context, method, path string, body []byte, patience time.Duration) (state enrolment.QuestionState, err error) {
	outer := ctx
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	// If the caller cancels the request, unanswered stays as it is: the centre may be reachable.
	defer func() {
		if err == nil || outer.Err() == nil {
			c.unanswered = err != nil
		}
	}()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.joined.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return state, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+c.joined.Token)
	r.Header.Set("User-Agent", "clawai")
	resp, err := c.http.Do(r)
	if err != nil {
		return state, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return state, err
	}
	if resp.StatusCode != http.StatusOK {
		var said enrolment.Refusal
		if json.Unmarshal(text, &said) != nil || said.Error == "" {
			return state, fmt.Errorf("%w (it answered %d)", errGarbage, resp.StatusCode)
		}
		reason := said.Description
		if reason == "" {
			reason = said.Error
		}
		return state, &refusalError{resp.StatusCode, term.VisibleText(strings.TrimSuffix(term.CutText(reason, maxReason), "."))}
	}
	if len(text) > maxAnswer || json.Unmarshal(text, &state) != nil || !enrolment.IsName(state.ID) || state.State == "" {
		return enrolment.QuestionState{}, errGarbage
	}
	return state, nil
}
