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
	if set := resp.Header.Get("Set-Cookie"); set != "" {
		t.Errorf("a cookie is set: %s", set)
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

// Whatever other ports of this address have left in the browser changes nothing.
func TestCookiesAreNotLookedAt(t *testing.T) {
	st := newSite(t, nil).enter()
	_, port, _ := strings.Cut(st.s.host, ":")
	for name, cookie := range map[string]string{
		"of an earlier clawai": "clawai-" + port + "=AAAA",
		"twice":                "clawai-" + port + "=A; clawai-" + port + "=B",
		"of others":            "session=1; " + strings.Repeat("x", 4000) + "=y",
		"as many as there are": strings.Repeat("n="+strings.Repeat("v", 4090)+"; ", 180),
		"none that is one":     ";;=,\"",
	} {
		for _, rt := range everyRoute[:4] {
			if resp, _ := st.do(rt.method, rt.path, rt.body, func(r *http.Request) { r.Header.Set("Cookie", cookie) }); resp.StatusCode != http.StatusOK {
				t.Errorf("%s, cookies %s: %s", rt.path, name, resp.Status)
			}
		}
		r := st.q.put(1, nil)
		resp, body := st.do("GET", "/request/"+r.ID, "", func(r *http.Request) { r.Header.Set("Cookie", cookie) })
		if resp.StatusCode != http.StatusOK {
			t.Errorf("cookies %s: %s %s", name, resp.Status, body)
		}
	}
}

func TestNothingOfTheQueueWithoutTheKey(t *testing.T) {
	st := newSite(t, nil).enter()
	r := st.q.put(1, nil)
	other := newSite(t, nil).enter()
	for name, change := range map[string]func(*http.Request){
		"no key":       func(r *http.Request) { r.Header.Del(keyHeader) },
		"an empty key": func(r *http.Request) { r.Header.Set(keyHeader, "") },
		"two keys":     func(r *http.Request) { r.Header.Add(keyHeader, st.key) },
		"another key":  func(r *http.Request) { r.Header.Set(keyHeader, other.key) },
		"as a cookie":  func(r *http.Request) { r.Header.Del(keyHeader); r.Header.Set("Cookie", keyHeader+"="+st.key) },
	} {
		for _, rt := range everyRoute[7:13] {
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
	key := st.key
	st.key = ""
	st.enter()
	if text := sm.next("ended"); !strings.Contains(text, "Press Enter") {
		t.Error(text)
	}
	eventually(t, "the old page is let go", func() bool { return st.q.looking() == 0 })
	st.key = key
	if resp, _ := st.do("GET", "/events", "", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old page is let in: %s", resp.Status)
	}
}
