package message

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// WebhookSettings is one [[webhook]] of gateway.toml.
type WebhookSettings struct {
	Name       string   `toml:"name"`
	URL        string   `toml:"url"`
	SecretFile string   `toml:"secret_file"`
	SecretEnv  string   `toml:"secret_env"`
	Approvers  []string `toml:"approvers"` // the webhook gets questions to these approvers; without approvers it gets all questions
	Payload    bool     `toml:"payload"`   // the request also contains the arguments of the call
}

func (s *WebhookSettings) secret() Secret {
	return Secret{"webhook." + s.Name + ".secret", s.SecretFile, s.SecretEnv}
}

// CheckWebhooks returns an error if settings cannot be used, or if two webhooks have the same name.
func CheckWebhooks(all []WebhookSettings) error {
	seen := map[string]bool{}
	for i := range all {
		s := &all[i]
		if s.Name == "" || len(s.Name) > 32 || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || seen[s.Name] {
			return fmt.Errorf("name %q has not 1 to 32 small letters, digits, \"-\" and \"_\", or is there twice", s.Name)
		}
		seen[s.Name] = true
		if err := errors.Join(checkAddress(s.URL), s.secret().check(), checkApprovers(s.Approvers)); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// webhook is a Way that posts questions to a URL.
type webhook struct {
	settings WebhookSettings
	secret   []byte
	now      func() time.Time
	client   *http.Client
}

// NewWebhook returns the Way for a [[webhook]].
func NewWebhook(s WebhookSettings, read Read, now func() time.Time) (Way, error) {
	secret, err := read(s.secret())
	return &webhook{s, []byte(secret), now, newClient()}, err
}

func (w *webhook) Name() string { return "webhook " + w.settings.Name }

func (w *webhook) Concerns(approvers []string) bool {
	return concerns(w.settings.Approvers, approvers)
}

// webhookEvent is the JSON body of a request.
type webhookEvent struct {
	ID        string    `json:"id"` // id of the event; a repeated event has the same id
	Question  string    `json:"question"`
	State     string    `json:"state"` // docs/gateway.md lists the values
	Page      string    `json:"page"`
	Laptop    string    `json:"laptop"`
	Owner     string    `json:"owner,omitempty"`
	Approvers []string  `json:"approvers"`
	Given     int       `json:"given"`
	Wanted    int       `json:"wanted"`
	NotSelf   bool      `json:"not_self,omitempty"`
	Dangerous bool      `json:"dangerous"`
	Call      string    `json:"call"` // names of the tools and of the server, without arguments
	Expires   time.Time `json:"expires"`
	Digest    string    `json:"digest,omitempty"` // only with payload, because the digest lets a receiver confirm guessed arguments
	Lines     []string  `json:"lines,omitempty"`  // only with payload
	Votes     []string  `json:"votes,omitempty"`
}

func (w *webhook) Send(ctx context.Context, n *Notice) (string, error) { return "", w.post(ctx, n) }

func (w *webhook) Update(ctx context.Context, _ string, n *Notice) error { return w.post(ctx, n) }

// post sends a signed event. The signature also covers the time, so that the receiver can refuse an old
// event.
func (w *webhook) post(ctx context.Context, n *Notice) error {
	e := webhookEvent{
		ID: fmt.Sprintf("%s-%s-%d", n.ID, n.State, len(n.Votes)), Question: n.ID, State: n.State, Page: n.Link, Laptop: n.Laptop, Owner: n.Owner, Approvers: n.Approvers,
		Given: n.Given, Wanted: n.Wanted, NotSelf: n.NotSelf, Dangerous: n.Dangerous, Call: n.Tool, Expires: n.Expires, Votes: n.Votes,
	}
	if w.settings.Payload {
		e.Digest, e.Lines = n.Digest, n.Lines
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.settings.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(w.now().Unix(), 10)
	mac := hmac.New(sha256.New, w.secret)
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "clawai-gateway")
	r.Header.Set("Clawai-Timestamp", stamp)
	r.Header.Set("Clawai-Signature", "v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := w.client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // remove the address, because it may contain a secret
		}
		return fmt.Errorf("webhook %s: %w", w.settings.Name, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("webhook %s: it answered %d", w.settings.Name, resp.StatusCode)
	}
	return nil
}
