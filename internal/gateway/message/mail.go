package message

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/text/redact"
)

// MailSettings is the table [mail] of gateway.toml. The zero value sends no mail.
type MailSettings struct {
	Server       string   `toml:"server"` // HOST:PORT
	TLS          string   `toml:"tls"`    // "starttls" or "tls"
	From         string   `toml:"from"`
	User         string   `toml:"user"`
	PasswordFile string   `toml:"password_file"`
	PasswordEnv  string   `toml:"password_env"`
	To           []MailTo `toml:"to"`
}

// MailTo is a mail address. The address gets the questions to its approvers; without approvers it gets
// all questions.
type MailTo struct {
	Address   string   `toml:"address"`
	Approvers []string `toml:"approvers"`
}

// DefaultMail returns the settings that apply if gateway.toml does not set a key.
func DefaultMail() MailSettings { return MailSettings{TLS: "starttls"} }

func (s *MailSettings) password() Secret {
	return Secret{"mail.password", s.PasswordFile, s.PasswordEnv}
}

// Check returns an error if the settings cannot be used.
func (s *MailSettings) Check() error {
	if s.Server == "" {
		if len(s.To) > 0 || s.From != "" {
			return errors.New("server is missing; it is HOST:PORT of your mail server")
		}
		return nil
	}
	if host, _, err := net.SplitHostPort(s.Server); err != nil || host == "" {
		return fmt.Errorf("server: %q is not HOST:PORT", redact.MaskAddress(s.Server))
	}
	if s.TLS != "starttls" && s.TLS != "tls" {
		return fmt.Errorf("tls: %q is neither starttls nor tls; mail in clear is not sent", s.TLS)
	}
	if _, err := parseAddress(s.From); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if s.User != "" {
		if err := s.password().check(); err != nil {
			return err
		}
	}
	if len(s.To) == 0 {
		return errors.New("no [[mail.to]] is there, so nothing would be sent")
	}
	seen := map[string]bool{}
	for _, to := range s.To {
		if _, err := parseAddress(to.Address); err != nil || seen[to.Address] {
			return fmt.Errorf("to: %q is no address, or is there twice", to.Address)
		}
		seen[to.Address] = true
		if err := checkApprovers(to.Approvers); err != nil {
			return fmt.Errorf("to: %s: %w", to.Address, err)
		}
	}
	return nil
}

// parseAddress returns a mail address. It returns an error if the text contains a person's name,
// blanks, or characters outside ASCII.
func parseAddress(text string) (string, error) {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%q is no plain address such as oncall@example.com", text)
	}
	return a.Address, nil
}

// NewMail returns one way for each address of [mail].
func NewMail(s MailSettings, read Read, now func() time.Time) (ways []Way, err error) {
	password := ""
	if s.User != "" {
		if password, err = read(s.password()); err != nil {
			return nil, err
		}
	}
	for _, to := range s.To {
		ways = append(ways, &mailWay{settings: s, password: password, to: to, now: now})
	}
	return ways, nil
}

type mailWay struct {
	settings MailSettings
	password string
	to       MailTo
	now      func() time.Time
	tls      *tls.Config // for tests; nil otherwise
}

func (w *mailWay) Name() string { return "mail " + w.to.Address }

func (w *mailWay) Concerns(approvers []string) bool { return concerns(w.to.Approvers, approvers) }

// Update does nothing, because a sent mail cannot change. The page behind the link shows the present
// state of the question.
func (w *mailWay) Update(context.Context, string, *Notice) error { return nil }

// Send sends a mail with a link to the question's page. The mail contains no arguments of the call.
// Opening the link does not answer the question.
func (w *mailWay) Send(ctx context.Context, n *Notice) (string, error) {
	if err := w.send(ctx, w.text(n)); err != nil {
		return "", fmt.Errorf("mail to %s: %w", w.to.Address, err)
	}
	return "", nil
}

// text returns a mail with its headers. No header contains text from a laptop.
func (w *mailWay) text(n *Notice) []byte {
	care := ""
	if n.Dangerous {
		care = fmt.Sprintf("It needs care, for %d reasons.\n", len(n.Dangers))
	}
	body := fmt.Sprintf("A laptop's agent asks its team for a call of\n\n  %s\n\n%slaptop:    %s\napprovers: %s\nuntil:     %s\n\nRead and answer it on its page, after you signed in there:\n\n  %s\n\nOpening the page decides nothing.\n",
		n.Tool, care, n.Laptop, strings.Join(n.Approvers, ", "), n.Expires.UTC().Format(time.RFC1123), n.Link)
	// A line of a mail may have at most 998 bytes, and some servers refuse bytes above 127.
	// Quoted-printable keeps both limits.
	var encoded bytes.Buffer
	out := quotedprintable.NewWriter(&encoded)
	_, _ = out.Write([]byte(strings.ReplaceAll(body, "\n", "\r\n")))
	_ = out.Close()
	head := fmt.Sprintf("From: <%s>\nTo: <%s>\nSubject: Your team's centre asks about a call\nDate: %s\nMessage-ID: <%s.%d@clawai-gateway>\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n",
		w.settings.From, w.to.Address, w.now().UTC().Format(time.RFC1123Z), n.ID, n.Expires.Unix())
	return append([]byte(strings.ReplaceAll(head, "\n", "\r\n")), encoded.Bytes()...)
}

// send sends a mail over TLS. It returns an error if the server offers no TLS.
func (w *mailWay) send(ctx context.Context, text []byte) error {
	ctx, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	host, _, err := net.SplitHostPort(w.settings.Server)
	if err != nil {
		return err
	}
	ends := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if w.tls != nil {
		ends = w.tls
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.settings.Server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if at, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(at)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if w.settings.TLS == "tls" {
		conn = tls.Client(conn, ends)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if w.settings.TLS == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return errors.New("the server offers no STARTTLS, so nothing was sent")
		}
		if err := c.StartTLS(ends); err != nil {
			return err
		}
	}
	if w.settings.User != "" {
		if err := c.Auth(smtp.PlainAuth("", w.settings.User, w.password, host)); err != nil {
			return err
		}
	}
	if err := c.Mail(w.settings.From); err != nil {
		return err
	}
	if err := c.Rcpt(w.to.Address); err != nil {
		return err
	}
	data, err := c.Data()
	if err != nil {
		return err
	}
	_, err = data.Write(text)
	if err = errors.Join(err, data.Close()); err != nil {
		return err
	}
	_ = c.Quit() // ignore the error: the server has already accepted the mail
	return nil
}
