package model

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clawai/clawai/internal/wire/modelapi"
)

// FuzzMayAsk: whatever a stream's reader takes for a call, the parts of its event ask for, one byte at a time,
// before the last byte has passed.
func FuzzMayAsk(f *testing.F) {
	for i, text := range []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"\u0074oo\u006c_use","id":"a","name":"Bash","input":{}}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"computer_call","call_id":"a","action":{"type":"click"}}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","call_id":"a","name":"f","input":"x"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"mcp_approval_request","id":"a","name":"f","arguments":"{}"}}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"function_c\u0061ll":{"name":"f","arguments":"{}"}}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"x"},{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
		`{"response":{"candidates":[{"content":{"parts":[{"function_call":{"name":"f"}}]}}]}}`,
		`{"candidates":[{"content":{"parts":[{"executableCode":{"code":"x"}}]}}]}`,
	} {
		f.Add(uint8(i), text)
		for api := range uint8(4) {
			f.Add(api, text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		api, name := modelapi.API(which%4+1), ""
		if api == modelapi.Messages {
			name = "content_block_start"
		}
		step, err := modelapi.NewStream(api).ReadEvent(name, []byte(text))
		if err != nil || !step.Hold && len(step.Calls) == 0 && len(step.Places) == 0 {
			return
		}
		p := &passage{gone: make(chan func() []byte, 1), asked: make(chan struct{}), ended: make(chan struct{})}
		close(p.ended)
		from, to := io.Pipe()
		_ = from.Close()
		ended := make(chan struct{})
		close(ended)
		h := &hearing{ReadCloser: io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), copy: to, ended: ended, turn: &turn{passing: p}}
		some := make([]byte, 8)
		for {
			if n, err := h.Read(some); n == 0 && err != nil {
				break
			}
		}
		select {
		case <-p.asked:
		default:
			t.Fatalf("a call passes: %s", text)
		}
	})
}
