package web

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestALinkOpensOnce(t *testing.T) {
	opened := 0
	st := newSite(t, func(o *Options) { o.Opened = func() { opened++ } })
	token := st.token()
	guess := func(token string) (*http.Response, string) {
		return st.do("POST", "/session", `{"token":"`+token+`"}`, nil)
	}
	for _, wrong := range []string{"", "x", strings.Repeat("A", 43), token[:42], token + "A", strings.ToLower(token)} {
		if resp, body := guess(wrong); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
			t.Errorf("%q: %s %s", wrong, resp.Status, body)
		}
	}
	resp, body := guess(token)
	if resp.StatusCode != http.StatusOK || opened != 1 {
		t.Fatalf("%s %s", resp.Status, body)
	}
	set := resp.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie %q lacks %s", set, want)
		}
	}
	if strings.Contains(set, "Domain") || strings.Contains(set, "Expires") || len(resp.Cookies()[0].Value) < 40 || strings.Contains(body, resp.Cookies()[0].Value) {
		t.Errorf("cookie %q, body %s", set, body)
	}
	resp, body = guess(token)
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "Press Enter") || opened != 1 {
		t.Errorf("a used link: %s %s", resp.Status, body)
	}
}

func TestOnlyTheNewestLinkOpens(t *testing.T) {
	st := newSite(t, nil)
	first, second := st.token(), st.token()
	if resp, _ := st.do("POST", "/session", `{"token":"`+first+`"}`, nil); resp.StatusCode != http.StatusForbidden {
		t.Error("an earlier link still opens")
	}
	if resp, _ := st.do("POST", "/session", `{"token":"`+second+`"}`, nil); resp.StatusCode != http.StatusOK {
		t.Error("the newest link does not open")
	}
}

func TestOneOfManyComesIn(t *testing.T) {
	st := newSite(t, nil)
	token := st.token()
	var mu sync.Mutex
	in := 0
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			resp, err := st.client.Do(st.request("POST", "/session", `{"token":"`+token+`"}`, nil))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				mu.Lock()
				in++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if in != 1 {
		t.Errorf("%d came in", in)
	}
}

func TestNothingOfTheQueueWithoutCookieAndKey(t *testing.T) {
	st := newSite(t, nil).enter()
	r := st.q.put(1, nil)
	other := newSite(t, nil).enter()
	for name, change := range map[string]func(*http.Request){
		"neither":            func(r *http.Request) { r.Header.Del("Cookie"); r.Header.Del(keyHeader) },
		"no cookie":          func(r *http.Request) { r.Header.Del("Cookie") },
		"no key":             func(r *http.Request) { r.Header.Del(keyHeader) },
		"an empty key":       func(r *http.Request) { r.Header.Set(keyHeader, "") },
		"two keys":           func(r *http.Request) { r.Header.Add(keyHeader, st.key) },
		"another key":        func(r *http.Request) { r.Header.Set(keyHeader, other.key) },
		"another cookie":     func(r *http.Request) { r.Header.Set("Cookie", st.s.cookieName()+"="+strings.Repeat("A", 43)) },
		"two cookies":        func(r *http.Request) { r.Header.Set("Cookie", st.cookie+"; "+st.cookie) },
		"the cookie as key":  func(r *http.Request) { _, v, _ := strings.Cut(st.cookie, "="); r.Header.Set(keyHeader, v) },
		"a cookie of a port": func(r *http.Request) { r.Header.Set("Cookie", other.cookie) },
	} {
		for _, rt := range everyRoute[5:9] {
			resp, body := st.do(rt.method, rt.path, rt.body, change)
			if resp.StatusCode != http.StatusUnauthorized || strings.Contains(body, "notes.md") {
				t.Errorf("%s, %s: %s %s", rt.path, name, resp.Status, body)
			}
		}
	}
	if len(st.q.given()) > 0 || st.q.find(r.ID).Status != "pending" {
		t.Error("a stranger answered")
	}
}

func TestANewPageEndsTheOldOne(t *testing.T) {
	st := newSite(t, nil).enter()
	sm := st.open()
	sm.next("pending")
	cookie, key := st.cookie, st.key
	st.cookie, st.key = "", ""
	st.enter()
	if text := sm.next("ended"); !strings.Contains(text, "Press Enter") {
		t.Error(text)
	}
	eventually(t, "the old page is let go", func() bool { return st.q.looking() == 0 })
	st.cookie, st.key = cookie, key
	if resp, _ := st.do("GET", "/events", "", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old page is let in: %s", resp.Status)
	}
}
