package model_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy/model"
)

var clientsOf = map[string]string{"messages": "claude-code", "responses": "codex", "chat": "qwen-code", "gemini": "gemini-cli"}

type diffCase struct {
	Api    string `json:"api"`
	Name   string `json:"name"`
	Body   string `json:"body"`
	Stream bool   `json:"stream"`
	Type   string `json:"type"`
}

type seenCalls struct {
	N      int         `json:"n"`
	Reader string      `json:"reader"`
	Calls  [][2]string `json:"calls"`
	Error  string      `json:"error"`
	End    bool        `json:"end"`
}

func TestZZDiff(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("DIFF_CASES"))
	if err != nil {
		t.Skip()
	}
	var cases []diffCase
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var c diffCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err, line)
		}
		cases = append(cases, c)
	}
	which := regexp.MustCompile(`case (\d+)`)
	verbose := os.Getenv("DIFF_V") != ""
	cmd := exec.Command("node", "/opt/llm3/diff/read.mjs")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	type pair struct{ deny, allow *site }
	sites := map[string]pair{}
	for api, id := range clientsOf {
		reply := func(w http.ResponseWriter, r *http.Request, s *site) {
			s.mu.Lock()
			body := s.bodies[len(s.bodies)-1]
			s.mu.Unlock()
			n, _ := strconv.Atoi(which.FindStringSubmatch(body)[1])
			c := cases[n]
			kind := c.Type
			if kind == "" {
				kind = map[bool]string{true: "text/event-stream", false: "application/json"}[c.Stream]
			}
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, c.Body)
		}
		all := func(o *model.Options) { o.All = true; o.Denies = nil }
		d := makeSiteWith(t, id, true, nobody{}, all, "[[rule]]\naction = \"deny\"\ntool = \"*\"\n", gate.None{})
		d.reply = func(w http.ResponseWriter, r *http.Request) { reply(w, r, d) }
		a := makeSiteWith(t, id, true, nobody{}, all, "[[rule]]\naction = \"allow\"\ntool = \"*\"\n", gate.None{})
		a.reply = func(w http.ResponseWriter, r *http.Request) { reply(w, r, a) }
		sites[api] = pair{d, a}
	}
	ask := func(n int, c diffCase, s *site) (all []seenCalls) {
		b, _ := json.Marshal(map[string]any{"n": n, "api": c.Api, "url": s.url, "stream": c.Stream})
		fmt.Fprintf(in, "%s\n", b)
		for lines.Scan() {
			var one seenCalls
			if json.Unmarshal(lines.Bytes(), &one) != nil {
				continue
			}
			if one.End {
				return all
			}
			all = append(all, one)
		}
		t.Fatal("node ended")
		return nil
	}
	canon := func(text string) string {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return text
		}
		b, _ := json.Marshal(v)
		return string(b)
	}
	for n, c := range cases {
		p := sites[c.Api]
		for _, one := range ask(n, c, p.deny) {
			if verbose {
				fmt.Printf("  %s deny %s %v %s\n", c.Name, one.Reader, one.Calls, one.Error)
			}
			for _, call := range one.Calls {
				if call[0] != "" && !strings.HasPrefix(call[0], "clawai_denied_") {
					fmt.Printf("BYPASS %s: %s: %s reads %v %s\n", c.Api, c.Name, one.Reader, one.Calls, one.Error)
				}
			}
		}
		p.allow.record.forget()
		p.allow.post(map[string]string{"messages": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions", "gemini": "/v1beta/models/m:streamGenerateContent"}[c.Api], strings.TrimSuffix(empty, "}")+fmt.Sprintf(`,"x":"case %d"}`, n))
		var judged []string
		for _, ev := range p.allow.record.list(isDecision) {
			judged = append(judged, strings.Join(ev.Names, "/")+" "+canon(string(ev.Args)))
		}
		for _, one := range ask(n, c, p.allow) {
			if verbose {
				fmt.Printf("  %s allow %s %v %s judged %v\n", c.Name, one.Reader, one.Calls, one.Error, judged)
			}
			left := append([]string{}, judged...)
			for _, call := range one.Calls {
				if call[0] == "" || strings.HasPrefix(call[0], "clawai_denied_") {
					continue
				}
				want, found := call[0]+" "+canon(call[1]), false
				for i, j := range left {
					if j == want || j == call[0]+" " && (call[1] == "" || call[1] == "{}") {
						left, found = append(left[:i], left[i+1:]...), true
						break
					}
				}
				if !found {
					fmt.Printf("OTHER %s: %s: %s reads %v, judged %v %s\n", c.Api, c.Name, one.Reader, one.Calls, judged, one.Error)
					break
				}
			}
			p.allow.record.forget()
		}
	}
	_ = in.Close()
	_ = cmd.Wait()
}
