package model_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// A request in an encoding is read as one without: the calls and results in it are known, and it goes on with
// the client's bytes, or as text where a rule takes something out.
func TestEncodedRequests(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		for _, coding := range codings[1:] {
			t.Run(s.api+"/"+coding, func(t *testing.T) {
				t.Parallel()
				known := coding != "compress"
				heard := newSite(t, s.client, false, nil)
				heard.reply = answerWith(t, s.whole(nil), "", false)
				body := string(encode(t, coding, []byte(s.request("look", jsonOf("key "+token)))))
				if got := heard.post(s.path, body, "Content-Encoding", coding); got.status != http.StatusOK || heard.lastBody() != body || heard.heads[0].Get("Content-Encoding") != coding {
					t.Errorf("%d %s; sent %q", got.status, got.body, heard.lastBody())
				}
				if n := heard.record.count(isUnread); n == 0 != known {
					t.Errorf("%d not looked at", n)
				}
				judged := newUploadSite(t, s, uploadRule("redact", "tool = '**'"), nobody{}, nil)
				got := judged.post(s.path, body, "Content-Encoding", coding)
				want := strings.Replace(s.request("look", jsonOf("key "+token)), token, "[clawai:withheld secret 1]", 1)
				switch {
				case !known && got.status == http.StatusBadRequest && judged.lastBody() == "":
				case known && got.status == http.StatusOK && judged.lastBody() == want && judged.heads[0].Get("Content-Encoding") == "":
				default:
					t.Errorf("%d %s; sent %q", got.status, got.body, judged.lastBody())
				}
			})
		}
	}
}

// A body that becomes huge when it is decoded is not looked at; it costs no more memory than the longest text.
func TestBombs(t *testing.T) {
	slow.Test(t) // it unpacks much
	t.Parallel()
	s := &services[0]
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			bomb := string(encode(t, coding, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("a", 65<<20)+`"}]}`)))
			site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
			if got := site.post(s.path, bomb, "Content-Encoding", coding); got.status != http.StatusBadRequest || site.record.count(isUnread) != 1 {
				t.Errorf("a request: %d %s", got.status, got.body)
			}
			site.reply = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", coding)
				_, _ = w.Write([]byte(bomb))
			}
			if got := site.post(s.path, empty); got.status != http.StatusBadGateway {
				t.Errorf("a reply: %d %.100s", got.status, got.body)
			}
			for _, broken := range []string{bomb[:len(bomb)/2], bomb[:1], "", "\x00" + bomb} {
				bomb = broken
				if got := site.post(s.path, empty); got.status == http.StatusOK && got.body != "" {
					t.Errorf("a broken reply: %d %.100s", got.status, got.body)
				}
			}
			if n := site.record.count(func(ev *event.Event) bool { return isUnread(ev) && ev.Direction == "server" }); n == 0 {
				t.Error("nothing is on record as not looked at")
			}
		})
	}
}
