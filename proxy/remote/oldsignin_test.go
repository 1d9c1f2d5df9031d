package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/remote"
)

// locked answers what is posted to the address of its stream like a server of
// 2024-11-05, and asks for credentials at the stream and at the messages only.
type locked struct {
	sseServer
	valid, refused atomic.Int32
}

func (s *locked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known := r.Header.Get("Authorization") == "Bearer "+string('0'+s.valid.Load())
	if older := r.Method == http.MethodPost && r.URL.Path == "/mcp"; !known && !older {
		s.refused.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.sseServer.ServeHTTP(w, r)
}

// asker counts the sign-ins; with err there is none.
type asker struct {
	credentials
	asked atomic.Int32
	err   error
}

func (*asker) Accepted(*http.Request) {}

func (a *asker) Challenged(context.Context, *http.Response) (bool, error) {
	a.asked.Add(1)
	if a.err == nil {
		a.token.Add(1)
	}
	return a.err == nil, a.err
}

func TestASignInThatOnlyTheStreamAsksFor(t *testing.T) {
	s, a := &locked{}, &asker{}
	s.valid.Store(1)
	l := dial(t, s, func(o *remote.Options) { o.Credentials = a })
	l.say(initialize)
	l.wants(`"id":"i"`, `"result"`)
	l.say(initiated)
	l.wants(`"data":"s1"`)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	l.wants(`"id":1`, `"s1"`)
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}

	// The token is taken back, and the stream ends: that alone asks nobody.
	s.valid.Store(2)
	s.cut(false)
	for end := time.Now().Add(10 * time.Second); s.refused.Load() < 4 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if refused, n := s.refused.Load(), a.asked.Load(); refused < 4 || n != 1 {
		t.Errorf("refused %d times, asked %d times; the last without a message of the client's", refused, n)
	}
	for n := 2; a.asked.Load() == 1; n++ {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, n))
		l.wants(fmt.Sprintf(`"id":%d`, n))
	}
	l.say(`{"jsonrpc":"2.0","id":0,"method":"ping"}`)
	l.wants(`"id":0`, `"s2"`)
}

func TestASignInAtTheStreamThatFails(t *testing.T) {
	s, a := &locked{}, &asker{err: errors.New("nobody is here")}
	s.valid.Store(2)
	l := dial(t, s, func(o *remote.Options) { o.Credentials = a })
	l.say(initialize)
	l.wants(`"id":"i"`, `the server wants a sign-in: nobody is here`)
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	for _, note := range l.noted() {
		if !strings.HasPrefix(note, "stream_lost") {
			t.Error(note)
		}
	}
}
