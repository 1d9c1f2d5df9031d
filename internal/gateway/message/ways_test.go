package message

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

func newNotice(t *testing.T) *Notice {
	t.Helper()
	n, err := NewNotice(hostile(`{"command":"secret-word"}`), enrolment.QuestionPending, "laptop\r\nBcc: eve@example.com", "ana", "https://centre.example")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWebhooks(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	status := 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		stamp := r.Header.Get("Clawai-Timestamp")
		mac := hmac.New(sha256.New, []byte("SECRET"))
		mac.Write([]byte(stamp + "." + string(body)))
		if r.Header.Get("Clawai-Signature") != "v1="+hex.EncodeToString(mac.Sum(nil)) || stamp != fmt.Sprint(began.Unix()) {
			t.Errorf("the signature does not hold: %v", r.Header)
		}
		bodies = append(bodies, r.URL.Path+" "+string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer server.Close()
	for _, payload := range []bool{false, true} {
		settings := WebhookSettings{Name: "hook", URL: server.URL + "/in", SecretEnv: "SECRET", Approvers: []string{"role:oncall"}, Payload: payload}
		if err := CheckWebhooks([]WebhookSettings{settings}); err != nil {
			t.Fatal(err)
		}
		way, err := NewWebhook(settings, func(s Secret) (string, error) { return s.Env, nil }, func() time.Time { return began })
		if err != nil || !way.Concerns([]string{"x", "role:oncall"}) || way.Concerns([]string{"role:dba"}) {
			t.Fatal(err)
		}
		n := newNotice(t)
		bodies, status = nil, 200
		if _, err := way.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		n.State = enrolment.QuestionDenied
		if err := way.Update(t.Context(), "", n); err != nil {
			t.Fatal(err)
		}
		for _, status = range []int{302, 307, 500, 404} {
			if _, err := way.Send(t.Context(), n); err == nil {
				t.Errorf("%d counts as taken", status)
			}
		}
		var one, two webhookEvent
		if len(bodies) != 6 || strings.Contains(strings.Join(bodies, ""), "/elsewhere ") {
			t.Fatalf("%q", bodies)
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(bodies[0], "/in ")), &one) != nil || json.Unmarshal([]byte(strings.TrimPrefix(bodies[1], "/in ")), &two) != nil || one.ID == two.ID || one.State != "pending" || two.State != "denied" || one.Page != "https://centre.example/questions/abc" {
			t.Errorf("%+v\n%+v", one, two)
		}
		if strings.Contains(bodies[0], "secret-word") != payload || (one.Digest != "") != payload || strings.Contains(bodies[0], "\u202e") {
			t.Errorf("%s", bodies[0])
		}
	}
}

func TestSettingsThatCannotBeMeant(t *testing.T) {
	hook := func(change func(*WebhookSettings)) error {
		s := WebhookSettings{Name: "a", URL: "https://hook.example/x", SecretEnv: "S"}
		change(&s)
		return CheckWebhooks([]WebhookSettings{s})
	}
	slack := func(change func(*SlackSettings)) error {
		s := DefaultSlack()
		s.Team, s.TokenEnv, s.SigningEnv, s.Channels = "T1", "A", "B", []SlackChannel{{ID: "C1"}}
		change(&s)
		return s.Check()
	}
	mail := func(change func(*MailSettings)) error {
		s := DefaultMail()
		s.Server, s.From, s.To = "mail.example:587", "a@example.com", []MailTo{{Address: "b@example.com"}}
		change(&s)
		return s.Check()
	}
	for name, err := range map[string]error{
		"webhook": hook(func(*WebhookSettings) {}), "slack": slack(func(*SlackSettings) {}), "mail": mail(func(*MailSettings) {}), "no slack": (&SlackSettings{}).Check(), "no mail": (&MailSettings{}).Check(),
		"loopback": hook(func(s *WebhookSettings) { s.URL = "http://127.0.0.1:1/x" }),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"clear": hook(func(s *WebhookSettings) { s.URL = "http://hook.example" }), "user in the address": hook(func(s *WebhookSettings) { s.URL = "https://a:b@hook.example" }),
		"no secret": hook(func(s *WebhookSettings) { s.SecretEnv = "" }), "two secrets": hook(func(s *WebhookSettings) { s.SecretFile = "x" }), "no name": hook(func(s *WebhookSettings) { s.Name = "" }),
		"no approver": hook(func(s *WebhookSettings) { s.Approvers = []string{"oncall"} }), "twice": CheckWebhooks([]WebhookSettings{{Name: "a", URL: "https://x", SecretEnv: "S"}, {Name: "a", URL: "https://x", SecretEnv: "S"}}),
		"slack in clear": slack(func(s *SlackSettings) { s.URL = "http://slack.com" }), "no team": slack(func(s *SlackSettings) { s.Team = "" }), "a channel's name": slack(func(s *SlackSettings) { s.Channels[0].ID = "#general" }),
		"no token": slack(func(s *SlackSettings) { s.TokenEnv = "" }), "no person": slack(func(s *SlackSettings) { s.Users = []SlackUser{{"U1", "ana"}} }), "groups": slack(func(s *SlackSettings) { s.GroupsHours = 100 }),
		"mail in clear": mail(func(s *MailSettings) { s.TLS = "none" }), "a header": mail(func(s *MailSettings) { s.To[0].Address = "b@example.com\r\nBcc: c@example.com" }), "no password": mail(func(s *MailSettings) { s.User = "u" }),
		"a name": mail(func(s *MailSettings) { s.From = "Ana <a@example.com>" }), "nobody": mail(func(s *MailSettings) { s.To = nil }),
	} {
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// mailServer is a scripted mail server. It offers STARTTLS if it has settings for it.
type mailServer struct {
	net.Listener
	tls  *tls.Config
	mu   sync.Mutex
	mail []string
}

func (s *mailServer) serve() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		s.talk(conn)
		_ = conn.Close()
	}
}

func (s *mailServer) talk(conn net.Conn) {
	secure := false
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); word {
		case "EHLO":
			if s.tls != nil && !secure {
				say("250-hello\r\n250 STARTTLS")
			} else {
				say("250-hello\r\n250 AUTH PLAIN")
			}
		case "STARTTLS":
			say("220 go")
			ends := tls.Server(conn, s.tls)
			conn, in, secure = ends, bufio.NewReader(ends), true
		case "DATA":
			say("354 go")
			var text strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			s.mu.Lock()
			s.mail = append(s.mail, fmt.Sprintf("secure=%v\n%s", secure, text.String()))
			s.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		case "AUTH":
			say("235 yes")
		default:
			say("250 ok")
		}
	}
}

func TestMail(t *testing.T) {
	authority := tlstest.NewAuthority(t, "mail")
	for _, offers := range []bool{true, false} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &mailServer{Listener: l}
		if offers {
			server.tls = authority.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1"}})
		}
		go server.serve()
		settings := DefaultMail()
		settings.Server, settings.From, settings.User, settings.PasswordEnv = l.Addr().String(), "centre@example.com", "centre", "PASSWORD"
		settings.To = []MailTo{{"oncall@example.com", []string{"role:oncall"}}}
		if err := settings.Check(); err != nil {
			t.Fatal(err)
		}
		ways, err := NewMail(settings, func(s Secret) (string, error) { return s.Env, nil }, func() time.Time { return began })
		if err != nil || len(ways) != 1 {
			t.Fatal(err)
		}
		ways[0].(*mailWay).tls = &tls.Config{RootCAs: authority.Pool(), ServerName: "127.0.0.1"}
		n := newNotice(t)
		n.Approvers = append(slices.Repeat([]string{"role:" + strings.Repeat("long", 49)}, 99), n.Approvers...)
		_, err = ways[0].Send(t.Context(), n)
		_ = l.Close()
		server.mu.Lock()
		defer server.mu.Unlock()
		if !offers {
			if err == nil || !strings.Contains(err.Error(), "no STARTTLS") || len(server.mail) > 0 {
				t.Errorf("mail in clear: %v %q", err, server.mail)
			}
			continue
		}
		if err != nil || len(server.mail) != 1 {
			t.Fatalf("%v, %q", err, server.mail)
		}
		head, encoded, _ := strings.Cut(server.mail[0], "\r\n\r\n")
		for line := range strings.SplitSeq(server.mail[0], "\r\n") {
			if len(line) > 100 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }) {
				t.Errorf("not every server takes the line %q", line)
			}
		}
		text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(encoded)))
		if err != nil {
			t.Fatal(err)
		}
		body := string(text)
		if !strings.HasPrefix(head, "secure=true") || strings.Contains(head, "Bcc") || strings.Contains(head, "channel") || strings.Contains(body, "secret-word") || strings.Contains(body, "\r\nBcc") ||
			!strings.Contains(body, "https://centre.example/questions/abc") || !strings.Contains(body, `group:ärzte\u{202e}\u{2028}x`) || !strings.Contains(head, "\r\nTo: <oncall@example.com>\r\n") {
			t.Errorf("%s", server.mail[0])
		}
	}
}
