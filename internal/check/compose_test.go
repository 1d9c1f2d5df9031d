package check_test

import (
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A call that is written as a fixture is read as the same call.
func TestCompose(t *testing.T) {
	at := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]policy.Call{
		"tool":        {Subject: policy.ToolSubject, Method: "tools/call", Server: "files", Names: []string{"read & write"}, Args: []byte(`{"path":"</a>"}`)},
		"bare tool":   {Subject: policy.ToolSubject, Method: "tools/call", Names: []string{"read"}, Facts: policy.Facts{At: at}},
		"prompt":      {Subject: policy.PromptSubject, Method: "prompts/get", Names: []string{"p"}, Args: []byte(`{"a":"b"}`)},
		"resource":    {Subject: policy.ResourceSubject, Method: "resources/read", Names: []string{"file:///a"}},
		"sampling":    {Subject: policy.SamplingSubject, Method: "sampling/createMessage", Names: []string{"one", "two"}},
		"elicitation": {Subject: policy.ElicitationSubject, Method: "elicitation/create", Names: []string{"Which?"}},
		"method":      {Subject: policy.MethodSubject, Method: "tasks/get", Names: []string{"tasks/get"}},
	} {
		t.Run(name, func(t *testing.T) {
			composed, err := check.Compose(&c, policy.Prompt)
			if err != nil || composed.Name == "" {
				t.Fatal(composed, err)
			}
			fx, err := check.ParseFixture(composed.Text)
			if err != nil {
				t.Fatalf("%v\n%s", err, composed.Text)
			}
			calls, err := fx.ReadCalls("")
			if err != nil || len(calls) != 1 || *fx.Expected != policy.Prompt {
				t.Fatalf("%v, %v\n%s", calls, err, composed.Text)
			}
			if diff := cmp.Diff(c, calls[0], cmpopts.IgnoreFields(policy.Call{}, "Extra", "Quiet")); diff != "" {
				t.Errorf("%s\n%s", diff, composed.Text)
			}
		})
	}
	for _, c := range []policy.Call{
		{}, {Subject: policy.ToolSubject}, {Subject: policy.ResourceSubject, Names: []string{"a", "b"}},
		{Subject: policy.ElicitationSubject, Names: []string{"a", "b"}}, {Subject: policy.ToolSubject, Names: []string{"x"}, Args: []byte("\xff")},
		{Subject: policy.ToolSubject, Names: []string{"x"}, Args: []byte("{")},
	} {
		if composed, err := check.Compose(&c, policy.Deny); err == nil {
			t.Errorf("%+v becomes %s", c, composed.Text)
		}
	}
}
