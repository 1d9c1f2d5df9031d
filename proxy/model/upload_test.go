package model_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"context"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// uploadRule returns a rule about what goes to a model.
func uploadRule(action, about string) string {
	return "[[rule]]\naction = '" + action + "'\non = 'upload'\n" + about + "\nfind = ['secret']\ndescription = 'No key leaves'\n"
}

// request returns a request of a service: words of the user, a call, its result, more words.
func (s *service) request(words, result string) string {
	args := jsonOf(object{s.argument: "touch a"})
	switch s.api {
	case "messages":
		return `{"system":[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}],"messages": [{"role":"user","content":` + jsonOf(words) + `},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":` + args + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":` + result + `},{"type":"text","text":"go on"}]}] }`
	case "responses":
		return `{"instructions":"Be good.","input": [{"type":"message","role":"user","content":[{"type":"input_text","text":` + jsonOf(words) + `}]},{"type":"function_call","call_id":"c1","name":"exec_command","arguments":` + jsonOf(args) + `},{"type":"function_call_output","call_id":"c1","output":` + result + `}] }`
	case "chat":
		return `{"messages": [{"role":"system","content":"Be good."},{"role":"user","content":[{"type":"text","text":` + jsonOf(words) + `}]},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"run_shell_command","arguments":` + jsonOf(args) + `}}]},{"role":"tool","tool_call_id":"c1","content":` + result + `}] }`
	}
	return `{"systemInstruction":{"parts":[{"text":"Be good."}]},"contents": [{"role":"user","parts":[{"text":` + jsonOf(words) + `}]},{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":` + args + `}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":` + result + `}}}]}] }`
}

func (s *site) lastBody() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bodies) == 0 {
		return ""
	}
	return s.bodies[len(s.bodies)-1]
}

func newUploadSite(t *testing.T, s *service, rules string, person gate.Approver, change func(*model.Options)) *site {
	site := makeSiteWith(t, s.client, true, person, change, rules+defaultRules, screening.New(s.client, nil, nil))
	site.reply = answerWith(t, s.whole(nil), "", false)
	return site
}

const defaultRules = rules

func isUpload(ev *event.Event) bool { return ev.Method == model.UploadMethod }

// A secret in a tool's result goes to no service: it is taken out, the same bytes in each turn, and all
// else is as the client wrote it.
func TestUploadIsRedacted(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		for _, cover := range []model.Cover{model.Uncovered, model.ByHook, model.ByProxy} {
			t.Run(fmt.Sprintf("%s/%d", s.api, cover), func(t *testing.T) {
				site := newUploadSite(t, s, uploadRule("redact", "tool = '**'"), nobody{}, func(o *model.Options) {
					o.Covers = func(string, *client.Request) model.Cover { return cover }
				})
				body := s.request("look", jsonOf("key "+token+" \u00fc\n end"))
				want := strings.Replace(body, token, "[clawai:withheld secret 1]", 1)
				for range 3 {
					if got := site.post(s.path, body); got.status != http.StatusOK {
						t.Fatalf("%d %s", got.status, got.body)
					}
					if sent := site.lastBody(); sent != want {
						t.Errorf("sent\n%s\nwant\n%s", sent, want)
					}
				}
				altered := site.record.list(func(ev *event.Event) bool { return isUpload(ev) && len(ev.Altered) > 0 })
				if len(altered) != 1 || altered[0].Digest == altered[0].Sent || altered[0].Names[0] == "" || strings.Contains(fmt.Sprint(altered[0]), token) {
					t.Errorf("on record: %+v", altered)
				}
				if n := site.record.count(func(ev *event.Event) bool { return ev.Method == model.EditedMethod }); n != 3 {
					t.Errorf("%d edited requests on record", n)
				}
			})
		}
	}
}

// A refused result is withheld in its place, and the conversation goes on.
func TestUploadIsWithheld(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			site := newUploadSite(t, s, uploadRule("deny", "tool = '**'"), nobody{}, nil)
			body := s.request("my own "+token, jsonOf("key "+token))
			var first string
			for i := range 3 {
				if got := site.post(s.path, body); got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				sent := site.lastBody()
				if strings.Count(sent, token) != 1 || !strings.Contains(sent, "No key leaves") || !strings.Contains(sent, "found secret (1)") {
					t.Errorf("sent %s", sent)
				}
				if i == 0 {
					first = sent
				} else if sent != first {
					t.Errorf("sent\n%s\nafter\n%s", sent, first)
				}
			}
		})
	}
}

// Words of the user are refused with an error in the words of the service, and nothing is sent.
func TestWordsAreRefused(t *testing.T) {
	t.Parallel()
	form := map[string]string{"messages": `"type":"invalid_request_error"`, "responses": `"type":"invalid_request_error"`, "chat": `"type":"invalid_request_error"`, "gemini": `"status":"INVALID_ARGUMENT"`}
	for i := range services {
		s := &services[i]
		for _, about := range []string{"", "method = 'model/words'"} {
			t.Run(s.api+about, func(t *testing.T) {
				site := newUploadSite(t, s, uploadRule("deny", about), nobody{}, nil)
				got := site.post(s.path, s.request("use "+token, `"fine"`))
				if got.status != http.StatusBadRequest || !strings.Contains(got.body, form[s.api]) || !strings.Contains(got.body, "No key leaves") || strings.Contains(got.body, token) {
					t.Errorf("%d %s", got.status, got.body)
				}
				if site.lastBody() != "" {
					t.Errorf("sent %s", site.lastBody())
				}
				if got := site.post(s.path, s.request("use it", `"fine"`)); got.status != http.StatusOK {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
	}
}

// A secret that is cut in pieces, each in a part of its own, is found where the parts meet: words are refused, and a
// result is withheld whole, because no part holds it.
func TestSplitUploads(t *testing.T) {
	t.Parallel()
	part := map[string]string{"messages": "text", "responses": "input_text", "chat": "text"}
	for i := range services {
		s := &services[i]
		for _, pieces := range [][]string{
			{"key " + token[:9], token[9:] + " end"},
			{token[:4], token[4:20], token[20:]},
			{strings.Repeat("long ", 500) + token[:20], token[20:] + strings.Repeat(" long", 500)},
			{"a whole one " + token, "key " + token[:9], token[9:] + " end"},
		} {
			var parts []object
			for _, piece := range pieces {
				one := object{"text": piece}
				if kind := part[s.api]; kind != "" {
					one["type"] = kind
				}
				parts = append(parts, one)
			}
			list := jsonOf(parts)
			for _, action := range []string{"deny", "redact"} {
				site := newUploadSite(t, s, uploadRule(action, "tool = '**'"), nobody{}, nil)
				whole := action == "deny" && strings.Contains(list, token) // then another reason stands there
				if s.api != "gemini" {                                     // whose results are no lists
					got := site.post(s.path, s.request("look", list))
					if sent := site.lastBody(); got.status != http.StatusOK || strings.Contains(sent, token[20:]) || !strings.Contains(sent, "split over parts") && !whole {
						t.Errorf("%s, %s: %d %s; sent %s", s.api, action, got.status, got.body, sent)
					}
				}
				if got := site.post(s.path, s.request("look", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`)); got.status != http.StatusOK || strings.Contains(site.lastBody(), "split over") {
					t.Errorf("%s, %s: %d %s", s.api, action, got.status, got.body)
				}
			}
			words := map[string]string{
				"messages":  `{"messages":[{"role":"user","content":` + list + `}]}`,
				"responses": `{"input":[{"role":"user","content":` + list + `}]}`,
				"chat":      `{"messages":[{"role":"user","content":` + list + `}]}`,
				"gemini":    `{"contents":[{"role":"user","parts":` + list + `}]}`,
			}[s.api]
			site := newUploadSite(t, s, uploadRule("deny", "method = 'model/words'"), nobody{}, nil)
			if got := site.post(s.path, words); got.status != http.StatusBadRequest || site.lastBody() != "" {
				t.Errorf("%s: %d %s; sent %s", s.api, got.status, got.body, site.lastBody())
			}
		}
	}
}

// yes lets everything through, and counts.
type yes struct{ asked atomic.Int32 }

func (a *yes) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	a.asked.Add(1)
	return gate.Answer{Reply: gate.AllowOnce, Digest: q.Digest, Channel: "test"}, nil
}

// A person is asked once about one text, however often a conversation repeats it.
func TestUploadIsAskedOnce(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			who := &yes{}
			site := newUploadSite(t, s, uploadRule("prompt", ""), who, nil)
			body := s.request("use "+token, jsonOf("key "+token))
			for range 3 {
				if got := site.post(s.path, body); got.status != http.StatusOK || site.lastBody() != body {
					t.Fatalf("%d %s; sent %s", got.status, got.body, site.lastBody())
				}
			}
			if n := who.asked.Load(); n != 2 { // the words, and the result
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// What cannot be read may hold anything: each rule that denies, asks or takes out holds.
func TestUnreadUploads(t *testing.T) {
	t.Parallel()
	s := &services[0]
	for name, post := range map[string]func(*site) answer{
		"not JSON":      func(site *site) answer { return site.post(s.path, `{"messages":[}`) },
		"encoded":       func(site *site) answer { return site.post(s.path, "x", "Content-Encoding", "unknown") },
		"another path":  func(site *site) answer { return site.post("/v1/files", "x") },
		"counted words": func(site *site) answer { return site.post("/v1/messages/count_tokens", s.request(token, `"x"`)) },
		"document": func(site *site) answer {
			return site.post(s.path, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"`+token+`"}}]}]}`)
		},
		"new kind": func(site *site) answer {
			return site.post(s.path, `{"messages":[{"role":"user","content":[{"type":"tomorrow","x":{"y":["`+token+`"]}}]}]}`)
		},
		"too long to search": func(site *site) answer {
			return site.post(s.path, s.request(strings.Repeat("word ", 1<<20), `"x"`))
		},
	} {
		for _, rule := range []string{uploadRule("deny", ""), uploadRule("prompt", "method = 'model/words'")} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				site := newUploadSite(t, s, rule, nobody{}, nil)
				if got := post(site); got.status != http.StatusBadRequest || site.lastBody() != "" || !strings.Contains(got.body, "invalid_request_error") {
					t.Errorf("%d %s; sent %.100s", got.status, got.body, site.lastBody())
				}
			})
		}
	}
}

// A picture is not looked into, and asks for nothing.
func TestPictureIsNoUpload(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x89PNG\r\n\x1a\n\x00\xff\xfe\x07", 1<<19)))
	for i, body := range []string{
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}]}`,
		`{"input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,%s"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"%s"}}]}]}`,
	} {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			t.Parallel()
			site := newUploadSite(t, s, uploadRule("deny", ""), nobody{}, nil)
			if got := site.post(s.path, fmt.Sprintf(body, picture)); got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// With --judge off nothing waits and nothing changes; what the rules say is on record.
func TestUploadIsHeard(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		t.Run(s.api, func(t *testing.T) {
			site := makeSiteWith(t, s.client, false, nobody{}, nil, uploadRule("deny", "")+defaultRules, screening.New(s.client, nil, nil))
			site.reply = answerWith(t, s.whole(nil), "", false)
			body := s.request("use "+token, jsonOf("key "+token))
			if got := site.post(s.path, body); got.status != http.StatusOK || site.lastBody() != body {
				t.Errorf("%d %s; sent %s", got.status, got.body, site.lastBody())
			}
			if n := site.record.count(func(ev *event.Event) bool { return isUpload(ev) && ev.Code == gate.CodeNotEnforced }); n != 2 {
				t.Errorf("%d on record", n)
			}
		})
	}
}
