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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// SlackSettings is the table [slack] of gateway.toml. The zero value sends nothing.
type SlackSettings struct {
	Team        string         `toml:"team"` // id of the workspace; begins with T, or with E for an Enterprise Grid
	TokenFile   string         `toml:"token_file"`
	TokenEnv    string         `toml:"token_env"`
	SigningFile string         `toml:"signing_secret_file"`
	SigningEnv  string         `toml:"signing_secret_env"`
	URL         string         `toml:"url"`
	Payload     bool           `toml:"payload"`      // messages also show arguments; without this, no message has a button that allows
	GroupsHours int            `toml:"groups_hours"` // a person's groups are valid in Slack for this many hours after a sign-in at the centre
	Channels    []SlackChannel `toml:"channel"`
	Users       []SlackUser    `toml:"user"`
}

// SlackChannel is a Slack channel. The channel gets the questions to its approvers; without approvers
// it gets all questions.
type SlackChannel struct {
	ID        string   `toml:"id"`
	Approvers []string `toml:"approvers"`
}

// SlackUser maps a user of Slack to a person of the centre.
type SlackUser struct {
	ID     string `toml:"id"`
	Person string `toml:"person"` // ISSUER#SUBJECT, or an e-mail address that the provider has verified
}

// DefaultSlack returns the settings that apply if gateway.toml does not set a key.
func DefaultSlack() SlackSettings { return SlackSettings{URL: "https://slack.com", GroupsHours: 12} }

// IsOn reports whether gateway.toml configures Slack.
func (s *SlackSettings) IsOn() bool { return s.Team != "" || len(s.Channels) > 0 }

func (s *SlackSettings) token() Secret { return Secret{"slack.token", s.TokenFile, s.TokenEnv} }

func (s *SlackSettings) signing() Secret {
	return Secret{"slack.signing_secret", s.SigningFile, s.SigningEnv}
}

func isSlackID(id, letters string) bool {
	return len(id) > 1 && len(id) < 32 && strings.Contains(letters, id[:1]) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// Check returns an error if the settings cannot be used.
func (s *SlackSettings) Check() error {
	if !s.IsOn() {
		if s.TokenFile+s.TokenEnv+s.SigningFile+s.SigningEnv != "" || len(s.Users) > 0 {
			return errors.New("team is missing; it is the id of your workspace, which begins with T")
		}
		return nil
	}
	if !isSlackID(s.Team, "TE") {
		return fmt.Errorf("team: %q is not the id of a workspace, which begins with T", s.Team)
	}
	if len(s.Channels) == 0 {
		return errors.New("no [[slack.channel]] is there, so nothing would be sent")
	}
	if s.GroupsHours < 1 || s.GroupsHours > 24 {
		return fmt.Errorf("groups_hours: %d; it is 1 to 24", s.GroupsHours)
	}
	if err := errors.Join(s.token().check(), s.signing().check(), checkAddress(s.URL)); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range s.Channels {
		if !isSlackID(c.ID, "CG") || seen[c.ID] {
			return fmt.Errorf("channel %q is not the id of a channel, C..., or is there twice", c.ID)
		}
		seen[c.ID] = true
		if err := checkApprovers(c.Approvers); err != nil {
			return fmt.Errorf("channel %s: %w", c.ID, err)
		}
	}
	for _, u := range s.Users {
		if !isSlackID(u.ID, "UW") || seen[u.ID] {
			return fmt.Errorf("user %q is not the id of a user, U..., or is there twice", u.ID)
		}
		seen[u.ID] = true
		if !strings.ContainsAny(u.Person, "#@") {
			return fmt.Errorf("user %s: person %q is neither ISSUER#SUBJECT nor an e-mail address", u.ID, u.Person)
		}
	}
	return nil
}

func checkApprovers(all []string) error {
	for _, text := range all {
		if _, _, ok := policy.SplitApprover(text); !ok {
			return fmt.Errorf("%q is no approver; write role:NAME, group:NAME or person:NAME, as rules do", text)
		}
	}
	return nil
}

// Slack is a client of Slack's Web API. It also checks requests from Slack.
type Slack struct {
	settings SlackSettings
	token    string
	signing  []byte
	now      func() time.Time
	since    time.Time
	client   *http.Client

	mu   sync.Mutex
	seen map[string]time.Time // signatures of accepted requests, with the times of the requests
}

// NewSlack returns a client with the settings of gateway.toml. It calls read for the token and the
// signing secret.
func NewSlack(s SlackSettings, read Read, now func() time.Time) (*Slack, error) {
	token, err := read(s.token())
	if err != nil {
		return nil, err
	}
	signing, err := read(s.signing())
	if err != nil {
		return nil, err
	}
	return &Slack{settings: s, token: token, signing: []byte(signing), now: now, since: now().Truncate(time.Second), client: newClient(), seen: map[string]time.Time{}}, nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: egress.Network{}.NewTransport(egress.Options{}), Timeout: sendTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// Ways returns one way for each channel.
func (s *Slack) Ways() (ways []Way) {
	for _, c := range s.settings.Channels {
		ways = append(ways, &slackWay{s, c})
	}
	return ways
}

type slackWay struct {
	slack   *Slack
	channel SlackChannel
}

func (w *slackWay) Name() string { return "slack " + w.channel.ID }

func (w *slackWay) Concerns(approvers []string) bool { return concerns(w.channel.Approvers, approvers) }

func (w *slackWay) Send(ctx context.Context, n *Notice) (string, error) {
	var said struct {
		TS string `json:"ts"`
	}
	err := w.slack.call(ctx, "chat.postMessage", w.message(n), &said)
	if err == nil && said.TS == "" {
		err = errors.New("slack: the answer to chat.postMessage has no ts")
	}
	return said.TS, err
}

func (w *slackWay) Update(ctx context.Context, reference string, n *Notice) error {
	m := w.message(n)
	m["ts"] = reference
	return w.slack.call(ctx, "chat.update", m, nil)
}

// Names of the buttons, and limits of a message's content.
const (
	allowAction = "clawai_allow"
	denyAction  = "clawai_deny"
	maxShown    = 2500 // maximum number of characters; a longer call is answered on the page
	maxDangers  = 10
)

// message returns a Slack message about a question. It writes texts from laptops only into text
// elements of rich text, because Slack makes no mention, link or format from these. The message has a
// button that allows the call only if the message shows the whole call.
func (w *slackWay) message(n *Notice) map[string]any {
	rows, whole := w.rows(n)
	blocks := []any{
		richText("rich_text_section", w.headline(n)),
		richText("rich_text_preformatted", strings.Join(rows, "\n")),
	}
	if n.State == enrolment.QuestionPending {
		buttons := []any{button("Deny", denyAction, n, "")}
		if whole {
			buttons = append(buttons, button("Allow this call once", allowAction, n, "primary"))
		}
		buttons = append(buttons, map[string]any{"type": "button", "action_id": "clawai_open", "url": n.Link, "text": plainText("Open the page")})
		blocks = append(blocks, map[string]any{"type": "actions", "block_id": "clawai", "elements": buttons})
	}
	return map[string]any{
		"channel": w.channel.ID, "text": "A question of your team's centre: " + stateWords[n.State], "mrkdwn": false, "parse": "none", "link_names": false,
		"unfurl_links": false, "unfurl_media": false, "blocks": blocks,
	}
}

func (w *slackWay) headline(n *Notice) string {
	care := ""
	if n.Dangerous {
		care = "DANGEROUS. "
	}
	return fmt.Sprintf("%sA laptop's agent asks its team: %s", care, stateWords[n.State])
}

// rows returns the lines of a message about a question. Dangers come first. The result whole is true if
// the lines show the whole call.
func (w *slackWay) rows(n *Notice) (rows []string, whole bool) {
	whole = w.slack.settings.Payload
	switch text := strings.Join(n.Lines, "\n"); {
	case whole && utf8.RuneCountInString(text) <= maxShown:
		rows = append(rows, n.Lines...)
	case whole:
		whole = false
		for i, d := range n.Dangers {
			if i < maxDangers {
				rows = append(rows, "! "+term.CutText(d, 200))
			}
		}
		rows = append(rows, n.Tool, "It is too long to be shown here; read and answer it on the page.")
	default:
		if n.Dangerous {
			rows = append(rows, fmt.Sprintf("! %d reasons for care; they are on the page", len(n.Dangers)))
		}
		rows = append(rows, n.Tool, "What it carries is shown on the page; allow it there.")
	}
	rows = append(rows, "", "laptop     "+n.Laptop)
	if n.Owner != "" {
		rows = append(rows, "owner      "+n.Owner)
	}
	approvers := term.CutText(strings.Join(n.Approvers, ", "), 500)
	if n.NotSelf {
		approvers += "; not the owner of the laptop"
	}
	rows = append(rows, "approvers  "+approvers, fmt.Sprintf("allowed by %d of %d", n.Given, n.Wanted))
	for _, v := range n.Votes {
		rows = append(rows, "  "+term.CutText(v, 200))
	}
	return rows, whole
}

func richText(kind, text string) map[string]any {
	return map[string]any{"type": "rich_text", "elements": []any{map[string]any{"type": kind, "elements": []any{map[string]any{"type": "text", "text": text}}}}}
}

func plainText(text string) map[string]any {
	return map[string]any{"type": "plain_text", "text": text, "emoji": false}
}

func button(label, action string, n *Notice, style string) map[string]any {
	b := map[string]any{"type": "button", "action_id": action, "text": plainText(label), "value": n.ID + " " + n.Digest}
	if style != "" {
		b["style"] = style
	}
	return b
}

// call calls a method of Slack's Web API. It decodes Slack's reply into answer, unless answer is nil.
func (s *Slack) call(ctx context.Context, method string, message, answer any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.settings.URL, "/")+"/api/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return s.exchange(r, method, answer)
}

const maxAnswer = 1 << 20

func (s *Slack) exchange(r *http.Request, method string, answer any) error {
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // remove the address, because the error below names the method
		}
		return fmt.Errorf("slack: %s: %w", method, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &LaterError{time.Duration(min(max(seconds, 1), 600)) * time.Second, fmt.Errorf("slack: %s: too many requests", method)}
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("slack: %s answered %d", method, resp.StatusCode))
	}
	var said struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("slack: the answer to %s is no JSON", method)
	}
	if !said.OK {
		return fmt.Errorf("slack: %s: %q", method, term.CutText(said.Error, 100))
	}
	if answer != nil {
		return json.Unmarshal(text, answer)
	}
	return nil
}

// maxAge is the maximum age of a signed request.
const maxAge = 5 * time.Minute

// ErrNotSlack means that Slack did not sign the request, or that the request is too old or was already
// accepted.
var ErrNotSlack = errors.New("this is no request of Slack")

// CheckSignature returns nil if Slack signed the request within maxAge and the centre gets the request
// for the first time. Otherwise it returns ErrNotSlack. It also refuses requests from before the start
// of this centre, because an earlier process may have accepted them.
func (s *Slack) CheckSignature(h http.Header, body []byte) error {
	stamps, signatures := h.Values("X-Slack-Request-Timestamp"), h.Values("X-Slack-Signature")
	if len(stamps) != 1 || len(signatures) != 1 || len(stamps[0]) > 20 {
		return ErrNotSlack
	}
	seconds, err := strconv.ParseInt(stamps[0], 10, 64)
	now, at := s.now(), time.Unix(seconds, 0)
	if err != nil || now.Sub(at).Abs() > maxAge || at.Before(s.since) {
		return ErrNotSlack
	}
	mac := hmac.New(sha256.New, s.signing)
	mac.Write([]byte("v0:" + stamps[0] + ":"))
	mac.Write(body)
	got, err := hex.DecodeString(strings.TrimPrefix(signatures[0], "v0="))
	if err != nil || !strings.HasPrefix(signatures[0], "v0=") || !hmac.Equal(got, mac.Sum(nil)) {
		return ErrNotSlack
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, when := range s.seen {
		if now.Sub(when).Abs() > 2*maxAge {
			delete(s.seen, old)
		}
	}
	key := hex.EncodeToString(got)
	if _, again := s.seen[key]; again {
		return ErrNotSlack
	}
	s.seen[key] = at
	return nil
}

// Click is a user's click on a button in Slack.
type Click struct {
	User, Channel    string
	Question, Digest string
	Allow            bool
}

// ReadClick reads the body of a request whose signature is already checked. ok is false if the click is
// no answer, for example a click on "Open the page".
func (s *Slack) ReadClick(body []byte) (c Click, ok bool, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil || len(form["payload"]) != 1 {
		return c, false, errors.New("the request has no payload")
	}
	var said struct {
		Type string `json:"type"`
		Team struct {
			ID string `json:"id"`
		} `json:"team"`
		User struct {
			ID     string `json:"id"`
			TeamID string `json:"team_id"`
		} `json:"user"`
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
		Actions []struct {
			Action string `json:"action_id"`
			Value  string `json:"value"`
		} `json:"actions"`
	}
	if err := json.Unmarshal([]byte(form["payload"][0]), &said); err != nil {
		return c, false, errors.New("the payload cannot be read")
	}
	if said.Type != "block_actions" || len(said.Actions) != 1 {
		return c, false, nil
	}
	switch said.Actions[0].Action {
	case allowAction:
		c.Allow = true
	case denyAction:
	default:
		return c, false, nil
	}
	if said.Team.ID != s.settings.Team || said.User.TeamID != "" && said.User.TeamID != s.settings.Team {
		return c, false, errors.New("the click comes from another workspace")
	}
	id, digest, both := strings.Cut(said.Actions[0].Value, " ")
	if !both || !enrolment.IsName(id) || !isSlackID(said.User.ID, "UW") || !isSlackID(said.Channel.ID, "CG") {
		return c, false, errors.New("the click cannot be read")
	}
	if !slices.ContainsFunc(s.settings.Channels, func(one SlackChannel) bool { return one.ID == said.Channel.ID }) {
		return c, false, errors.New("the click comes from a channel in which this centre asks nothing")
	}
	if c.Allow && !s.settings.Payload {
		return c, false, errors.New("what a call carries is not shown in Slack, so it is allowed on the page")
	}
	c.User, c.Channel, c.Question, c.Digest = said.User.ID, said.Channel.ID, id, digest
	return c, true, nil
}

// ShowsWhole reports whether messages about a question show the whole call. Only then may a click in
// Slack allow the call.
func (s *Slack) ShowsWhole(q *store.Question) bool {
	n, err := NewNotice(q, q.State, "", "", "")
	if err != nil {
		return false
	}
	_, whole := (&slackWay{slack: s}).rows(n)
	return whole
}

// GroupsLife returns how long after a sign-in a person's groups are valid in Slack.
func (s *Slack) GroupsLife() time.Duration { return time.Duration(s.settings.GroupsHours) * time.Hour }

// FindName returns the name of a Slack user for store.People.ListPeople. The name is the person in
// gateway.toml, or the e-mail address that the user has confirmed to Slack. It is "" if neither exists.
func (s *Slack) FindName(ctx context.Context, user string) (string, error) {
	for _, u := range s.settings.Users {
		if u.ID == user {
			return u.Person, nil
		}
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Second) // Slack waits three seconds for the answer to a click
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.settings.URL, "/")+"/api/users.info?user="+url.QueryEscape(user), http.NoBody)
	if err != nil {
		return "", err
	}
	var said struct {
		User struct {
			ID        string `json:"id"`
			Team      string `json:"team_id"`
			Deleted   bool   `json:"deleted"`
			Bot       bool   `json:"is_bot"`
			Guest     bool   `json:"is_restricted"`
			Confirmed bool   `json:"is_email_confirmed"`
			Profile   struct {
				Email string `json:"email"`
			} `json:"profile"`
		} `json:"user"`
	}
	if err := s.exchange(r, "users.info", &said); err != nil {
		return "", err
	}
	u := &said.User
	if u.ID != user || u.Team != s.settings.Team || u.Deleted || u.Bot || u.Guest || !u.Confirmed || !strings.Contains(u.Profile.Email, "@") || strings.Contains(u.Profile.Email, "#") {
		return "", nil
	}
	return u.Profile.Email, nil
}

// Tell shows a text to one user in a channel. Other users do not see the text.
func (s *Slack) Tell(ctx context.Context, channel, user, text string) error {
	return s.call(ctx, "chat.postEphemeral", map[string]any{
		"channel": channel, "user": user, "text": "Your click at the team's centre", "parse": "none", "link_names": false,
		"blocks": []any{richText("rich_text_section", text)},
	}, nil)
}
