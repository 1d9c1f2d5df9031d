package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

func TestOutcome(t *testing.T) {
	for result, want := range map[string]string{
		`{"task":{"taskId":"a","status":"working"}}`:                                   "a",
		`{"resultType":"task","taskId":"b"}`:                                           "b",
		`{"resultType":"task","taskId":"b","task":{"taskId":"a"}}`:                     "a b", // a client may take up either
		`{"resultType":"complete","taskId":"b","status":"completed","result":{}}`:      "",
		`{"taskId":"b","status":"working"}`:                                            "", // tasks/get of 2025-11-25
		`{"task":{"taskId":1}}`:                                                        "",
		`{"task":"a"}`:                                                                 "",
		`{"result":{"task":{"taskId":"a"}},"content":[{"task":{"taskId":"in text"}}]}`: "",
		`{"t\u0061sk":{"task\u0049d":"a"}}`:                                            "a",
		`{"content":[{"isError":true}],"isError":false}`:                               "",
		`{"content":[],"isError":true}`:                                                "failed ",
		`{"isError":1}`:                                                                "",
		`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":[9],"isError":true,"task":{"taskId":"a"}}`: "failed a", // more than the index holds
	} {
		failed, tasks := outcome(t, `"result":`+result)
		if got := strings.Join(tasks, " "); got != strings.TrimPrefix(want, "failed ") || failed != strings.HasPrefix(want, "failed") {
			t.Errorf("%s makes %q, failed %v; want %q", result, got, failed, want)
		}
	}
	if failed, tasks := outcome(t, `"error":{"code":1,"message":"no","task":{"taskId":"a"}}`); !failed || tasks != nil {
		t.Errorf("an error: failed %v, tasks %q", failed, tasks)
	}
}

func outcome(t *testing.T, member string) (failed bool, tasks []string) {
	t.Helper()
	f, err := frame.Parse([]byte(`{"jsonrpc":"2.0","id":1,`+member+`}`), frame.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return mcp.ReadOutcome(&f)
}

func TestTasksOfAMessage(t *testing.T) {
	for _, c := range []struct {
		method, params string
		from           mcp.Direction
		want           string
		malformed      string
	}{
		{"tasks/get", `{"taskId":"a"}`, mcp.ClientToServer, "a", ""},
		{"tasks/get", `{"taskId":"\u0061"}`, mcp.ServerToClient, "a", ""},
		{"tasks/cancel", `{"taskId":"a"}`, mcp.ClientToServer, "a", ""},
		{"tasks/result", `{}`, mcp.ClientToServer, "", ""}, // the server's to refuse
		{"tasks/update", `{"taskId":1}`, mcp.ClientToServer, "", "taskId is not a string"},
		{"tasks/list", `{"taskId":"a"}`, mcp.ClientToServer, "", ""},
		{"notifications/tasks", `{"taskId":"a"}`, mcp.ServerToClient, "a", ""},
		{"notifications/tasks/status", `{"taskId":null}`, mcp.ServerToClient, "", "taskId is not a string"},
		{"subscriptions/listen", `{"notifications":{"taskIds":["a","b"]}}`, mcp.ClientToServer, "a b", ""},
		{"subscriptions/listen", `{"notifications":{"taskIds":null}}`, mcp.ClientToServer, "", ""},
		{"subscriptions/listen", `{"notifications":{"taskIds":["a",{}]}}`, mcp.ClientToServer, "a", "taskIds holds something that is not a string"},
		{"subscriptions/listen", `{"notifications":{"taskIds":{"x":"a"}}}`, mcp.ClientToServer, "", "taskIds is not an array"},
		{"tools/call", `{"name":"x","taskId":"a"}`, mcp.ClientToServer, "", ""},
	} {
		id := `"id":1,`
		if strings.HasPrefix(c.method, "notifications/") {
			id = ""
		}
		f, err := frame.Parse([]byte(`{"jsonrpc":"2.0",`+id+`"method":"`+c.method+`","params":`+c.params+`}`), frame.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m, refusal := mcp.Read(&f, c.from, "s")
		if refusal != nil {
			t.Errorf("%s %s: %v", c.method, c.params, refusal)
			continue
		}
		if got := strings.Join(m.Tasks, " "); got != c.want {
			t.Errorf("%s %s is about %q, want %q", c.method, c.params, got, c.want)
		}
		var why []string
		for _, call := range m.Calls {
			if call.Malformed != "" {
				why = append(why, call.Malformed)
			}
		}
		if c.malformed == "" && len(why) > 0 || c.malformed != "" && !slices.Contains(why, c.malformed) {
			t.Errorf("%s %s is malformed: %q, want %q", c.method, c.params, why, c.malformed)
		}
	}
}

func TestAsksForTask(t *testing.T) {
	for extra, want := range map[string]bool{
		`{"task":{"ttl":60}}`: true, `{"\u0074ask":{}}`: true, `{"task":null}`: true,
		`{"cwd":"/task"}`: false, `{}`: false, "": false,
	} {
		if got := mcp.AsksForTask(policy.Call{Extra: []byte(extra)}); got != want {
			t.Errorf("%s: %v", extra, got)
		}
	}
}
