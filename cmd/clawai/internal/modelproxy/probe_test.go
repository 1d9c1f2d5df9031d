package modelproxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/modelproxy"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/wrap"
)

const secret = "sekret-sekret-sekret"

// listen starts a program at an address, and returns the routes that name it.
func listen(t *testing.T, serve http.HandlerFunc) *wrap.ModelRoutes {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return &wrap.ModelRoutes{Listen: s.Listener.Addr().String(), Secret: secret}
}

func TestProbe(t *testing.T) {
	answer := func(secret, judge string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !modelproxy.AnswerProbe(w, r, secret, judge) {
				t.Errorf("%s is no probe", r.URL.Path)
			}
		}
	}
	// replay answers as the proxy has answered another question.
	var heard []byte
	proxy := listen(t, answer(secret, "uncovered"))
	replay := func(w http.ResponseWriter, r *http.Request) {
		if heard == nil {
			resp, err := http.Get("http://" + proxy.Listen + r.URL.Path + "x")
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			heard, _ = io.ReadAll(resp.Body)
		}
		_, _ = w.Write(heard)
	}
	for name, c := range map[string]struct {
		serve    http.HandlerFunc
		judge    string
		stranger bool
	}{
		"the proxy":          {serve: answer(secret, "off"), judge: "off"},
		"the proxy, judging": {serve: answer(secret, "uncovered"), judge: "uncovered"},
		"another secret":     {serve: answer("another-another-another", "off"), stranger: true},
		"no secret":          {serve: answer("", "off"), stranger: true},
		"nothing":            {serve: func(http.ResponseWriter, *http.Request) {}, stranger: true},
		"a page":             {serve: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>it works</html>") }, stranger: true},
		"an error":           {serve: http.NotFound, stranger: true},
		"an old answer":      {serve: replay, stranger: true},
		"another judge's":    {serve: func(w http.ResponseWriter, r *http.Request) { forward(t, w, r, proxy, " uncovered", " off") }, stranger: true},
		"a redirect": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+proxy.Listen+r.URL.Path, http.StatusFound)
		}, stranger: true},
		"a text without end":   {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20)) }, stranger: true},
		"a header without end": {serve: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<16)) }},
	} {
		judge, err := modelproxy.Probe(context.Background(), listen(t, c.serve))
		if judge != c.judge || errors.Is(err, modelproxy.ErrStranger) != c.stranger || (err == nil) != (c.judge != "") {
			t.Errorf("%s: %q, %v", name, judge, err)
		}
	}
	if heard == nil {
		t.Error("no old answer was given")
	}
}

// forward gives another program's answer with other words.
func forward(t *testing.T, w http.ResponseWriter, r *http.Request, to *wrap.ModelRoutes, old, now string) {
	resp, err := http.Get("http://" + to.Listen + r.URL.Path)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	changed := strings.Replace(string(body), old, now, 1)
	if changed == string(body) {
		t.Errorf("%q has no %q", body, old)
	}
	fmt.Fprint(w, changed)
}

// Nobody at the address is not a stranger there, and whoever stops asking gets an answer at once.
func TestProbeOfNobody(t *testing.T) {
	routes := &wrap.ModelRoutes{Listen: "127.0.0.1:" + exectest.ReservePort(t), Secret: secret}
	if judge, err := modelproxy.Probe(context.Background(), routes); judge != "" || err == nil || errors.Is(err, modelproxy.ErrStranger) {
		t.Errorf("%q, %v", judge, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if judge, err := modelproxy.Probe(ctx, listen(t, func(http.ResponseWriter, *http.Request) {})); judge != "" || err == nil {
		t.Errorf("%q, %v", judge, err)
	}
}

// Neither the question nor the answer holds the secret, no two questions are the same, and any other
// request is not a question.
func TestProbeKeepsTheSecret(t *testing.T) {
	var asked []string
	routes := listen(t, func(w http.ResponseWriter, r *http.Request) {
		var all bytes.Buffer
		if err := r.Write(&all); err != nil {
			t.Error(err)
		}
		asked = append(asked, all.String())
		rec := httptest.NewRecorder()
		if !modelproxy.AnswerProbe(rec, r, secret, "off") {
			t.Error("it is no question")
		}
		if strings.Contains(rec.Body.String(), secret) {
			t.Error("the answer holds the secret")
		}
		_, _ = w.Write(rec.Body.Bytes())
	})
	for range 2 {
		if _, err := modelproxy.Probe(context.Background(), routes); err != nil {
			t.Error(err)
		}
	}
	if len(asked) != 2 || asked[0] == asked[1] || strings.Contains(asked[0], secret) {
		t.Errorf("asked were %q", asked)
	}
	for _, path := range []string{"/", "/v1/messages", "/clawai-llm-proxy/" + secret + "/codex", "/x/clawai-llm-proxy-probe/1", "/clawai-llm-proxy-probe"} {
		rec := httptest.NewRecorder()
		if modelproxy.AnswerProbe(rec, httptest.NewRequest(http.MethodGet, path, nil), secret, "off") || rec.Body.Len() > 0 {
			t.Errorf("%s is answered with %q", path, rec.Body)
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"a", "a", true}, {"a", "b", false}, {"", "", false}, {"a", "", false}, {"", "a", false}, {"ab", "a", false}} {
		if modelproxy.SameText(c.a, c.b) != c.same {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}
