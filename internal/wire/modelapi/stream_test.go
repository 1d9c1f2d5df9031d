package modelapi

import (
	"strings"
	"testing"
)

// stream is a reply: each line is an event, its name, a blank, its data.
type stream struct {
	api  API
	text string
}

const (
	withBash = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}
`
	stopBash = "content_block_stop {\"type\":\"content_block_stop\",\"index\":1}\n"
	piece    = `"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"x\"}"}}`
)

// block is the start of a block of Messages.
func block(index, content string) string {
	return `content_block_start {"type":"content_block_start","index":` + index + `,"content_block":` + content + "}\n"
}

func pieceAt(index, partial string) string {
	return `content_block_delta {"type":"content_block_delta","index":` + index + `,"delta":{"type":"input_json_delta","partial_json":` + partial + "}}\n"
}

func endOf(index string) string {
	return `content_block_stop {"type":"content_block_stop","index":` + index + "}\n"
}

func use(id, name string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}`
}

// item is an event of Responses about an item, and args one about arguments.
func item(event, index, content string) string {
	return `response.output_item.` + event + ` {"type":"response.output_item.` + event + `","output_index":` + index + `,"item":` + content + "}\n"
}

func args(event, index, value string) string {
	member := map[string]string{"delta": "delta", "done": "arguments"}[event]
	return `response.function_call_arguments.` + event + ` {"type":"response.function_call_arguments.` + event + `","output_index":` + index + `,"` + member + `":` + value + "}\n"
}

func function(id, name, arguments string) string {
	return `{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":` + arguments + `}`
}

// chunk is an event of Chat with pieces of calls.
func chunk(calls string) string {
	return ` {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + "]}}]}\n"
}

func chatPiece(index, id, name, arguments string) string {
	var members []string
	for _, m := range [][2]string{{"index", index}, {"id", id}} {
		if m[1] != "" {
			members = append(members, `"`+m[0]+`":`+m[1])
		}
	}
	function := `"arguments":` + arguments
	if name != "" {
		function = `"name":` + name + `,` + function
	}
	return "{" + strings.Join(append(members, `"function":{`+function+`}`), ",") + "}"
}

const evil = `"{\"command\":\"x\"}"`

// ambiguousStreams are streams of which clients make other calls than the pieces seem to make, by what they
// do. All of them must end with an error. What the clients' own parsers make of each is in
// test/attack/modelstream.
var ambiguousStreams = map[string][]stream{
	"numbers": {
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":1.0,` + piece},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":"1",` + piece},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":1E0,` + piece},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":-0,` + piece},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":2,` + piece},
		{Messages, withBash + stopBash + `content_block_delta {"type":"content_block_delta","index":1,` + piece},
		{Messages, withBash + block("1", `{"type":"text"}`)},
		{Messages, block("5", use("a", "Bash"))},
		{Messages, withBash + stopBash + block("1", use("b", "Read"))},
		{Messages, withBash + stopBash + block("1", `{"type":"text"}`) + pieceAt("1", evil)},
		{Messages, withBash + stopBash + block("1", `{"type":"server_tool_use","id":"s","name":"web_search"}`) + pieceAt("1", evil)},
		{Messages, block("3", `{"type":"text"}`) + endOf("3") + block("1", use("a", "Bash"))},
		{Messages, withBash + stopBash + endOf("1")},
		{Messages, withBash + endOf("2")},
		{Messages, `message_start {"type":"message_start","message":{"content":[{"type":"text"},{"type":"text"}]}}` + "\n" + block("0", use("a", "Bash"))},
		{Messages, `message_start {"type":"message_start","message":{"content":[{"type":"text"},` + use("a", "Bash") + `]}}` + "\n" + block("1", use("b", "Read"))},
		{Messages, withBash + `message_start {"type":"message_start","message":{"content":[]}}`},
		{Responses, item("added", "0", function("a", "f", `""`)) + item("done", "0", function("a", "f", `""`)) + item("added", "0", function("b", "g", `""`)) + args("delta", "0", evil)},
		{Responses, item("added", "0", function("a", "f", `""`)) + item("done", "0", function("a", "f", `""`)) + item("added", "0", function("b", "g", `""`)) + item("done", "0", function("b", "g", evil))},
		{Responses, item("added", "0", `{"type":"message"}`) + item("added", "0.0", function("b", "g", `""`)) + item("done", "0.0", function("b", "g", evil))},
		{Responses, item("added", "1", function("a", "f", `""`)) + args("delta", "1", evil)},
		{Responses, item("added", "0.0", function("a", "f", `""`)) + args("delta", "0.0", evil)},
		{Responses, item("added", `"0"`, function("a", "f", `""`)) + args("delta", `"0"`, evil)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "1", evil)},
		{Responses, item("added", "0", function("a", "f", `""`)) + item("added", "0", function("b", "g", `""`))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(`{"index":0,"id":"","type":"","function":{"name":"","arguments":`+evil+`}}`)},
		{Chat, chunk(chatPiece("10e-1", `"a"`, `"Bash"`, evil))},
		{Chat, chunk(chatPiece("", `""`, `"Bash"`, evil) + "," + chatPiece("", `"b"`, `"Read"`, `"{}"`))},
		{Chat, chunk(chatPiece("", "", `"Bash"`, evil) + "," + chatPiece("", "", `"Read"`, `"{}"`))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, evil) + "," + chatPiece("", `""`, `"Read"`, `"{}"`))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, `"{"`) + "," + chatPiece("", `"b"`, `"Read"`, `"}"`))},
		{Chat, chunk(chatPiece(`"0"`, `"a"`, `"Bash"`, evil))},
		{Chat, ` {"choices":[{"index":1,"delta":{"tool_calls":[` + chatPiece("0", `"a"`, `"Bash"`, evil) + `]}}]}`},
		{Chat, ` {"choices":[{"delta":{"tool_calls":[` + chatPiece("0", `"a"`, `"Bash"`, evil) + `]}}]}`},
		{Chat, ` {"choices":[{"index":null,"delta":{"tool_calls":[` + chatPiece("0", `"a"`, `"Bash"`, evil) + `]}}]}`},
		{Chat, ` {"choices":[{"index":0.0,"delta":{"tool_calls":[` + chatPiece("0", `"a"`, `"Bash"`, evil) + `]}}]}`},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("1", `"b"`, `"Read"`, `""`)) + chunk(chatPiece("", "", "", evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("", "", "", evil))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("0", "", "", evil))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, `""`)+","+chatPiece("", `"b"`, `"Read"`, `""`)) + chunk(chatPiece("", `"a"`, "", evil))},
	},
	"what is no text": {
		{Messages, withBash + pieceAt("1", `[`+evil+`]`)},
		{Messages, withBash + pieceAt("1", `12`)},
		{Messages, withBash + pieceAt("1", `true`)},
		{Messages, withBash + pieceAt("1", `null`)},
		{Messages, withBash + pieceAt("1", `{"a":1}`)},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":["input_json_delta"],"partial_json":` + evil + `}}`},
		{Messages, withBash + `content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta"}}`},
		{Messages, block("0", `{"type":["tool_use"],"id":"a","name":"Bash"}`)},
		{Messages, block("0", `{"type":"tool_use","id":"a","name":["Bash"]}`)},
		{Messages, block("0", `{"type":"tool_use","id":["a"],"name":"Bash"}`)},
		{Messages, block("0", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Ba\xffsh\"}")},
		{Messages, block("0", `[`+use("a", "Bash")+`]`)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", `[`+evil+`]`)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", `1`)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", `null`)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("done", "0", `[`+evil+`]`)},
		{Responses, item("done", "0", `{"type":["function_call"],"call_id":"a","name":"f","arguments":"{}"}`)},
		{Responses, item("done", "0", `{"type":"function_call","call_id":"a","name":["f"],"arguments":"{}"}`)},
		{Responses, item("done", "0", `{"type":"function_call","call_id":"a","name":"f","namespace":["mcp__s"],"arguments":"{}"}`)},
		{Responses, item("done", "0", `{"type":"custom_tool_call","call_id":"a","name":"f","input":["x"]}`)},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `[`+evil+`]`))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("0", "", "", `[`+evil+`]`))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `1`))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Read"`, `""`)) + chunk(chatPiece("0", "", `["Bash"]`, evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `{"a":1}`))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("0", "", "", `{"a":1}`))},
		{Chat, ` {"choices":[{"index":0,"delta":{"function_call":{"name":"Bash","arguments":[` + evil + `]}}}]}`},
		{Gemini, ` {"candidates":[{"content":{"parts":[{"functionCall":{"name":["Bash"]}}]}}]}`},
		{Gemini, ` {"candidates":{"0":{"content":{"parts":[{"functionCall":{"name":"Bash"}}]}}}}`},
		{Messages, withBash + "content_block_delta {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\\\"\xe2\x82\"}}"},
	},
	"twice, or after the end": {
		{Messages, withBash + "message_stop {\"type\":\"message_stop\"}\n" + `content_block_delta {"type":"content_block_delta","index":1,` + piece},
		{Messages, withBash + stopBash + block("2", use("a", "Read"))},
		{Responses, item("done", "0", function("a", "f", evil)) + item("done", "0", function("a", "f", evil))},
		{Responses, item("done", "0", function("a", "f", evil)) + item("done", "1", function("a", "f", evil))},
		{Responses, item("done", "0", function("a", "f", evil)) + item("done", "1", function("a", "f", `"{}"`))},
		{Responses, item("done", "0", function("a", "f", evil)) + `response.completed {"type":"response.completed","response":{"output":[` + function("a", "f", evil) + `,` + function("a", "f", evil) + `]}}`},
		{Responses, item("done", "0", function("a", "f", `"{}"`)) + `response.completed {"type":"response.completed","response":{"output":[` + function("a", "f", evil) + `]}}`},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", `"{}"`) + args("done", "0", evil)},
		{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", `"{}"`) + item("done", "0", function("a", "f", evil))},
		{Responses, item("added", "0", function("a", "g", `""`)) + item("done", "0", function("a", "f", evil))},
		{Responses, `response.created {"type":"response.created","response":{"output":[` + function("a", "f", evil) + `]}}`},
		{Responses, `response.in_progress {"type":"response.in_progress","response":{"output":[` + function("a", "f", evil) + `]}}`},
		{Responses, item("added", "0", function("a", "f", `""`)) + " [DONE]\n" + args("delta", "0", evil)},
		{Responses, item("done", "0", function("a", "f", `"{}"`)) + args("delta", "0", evil)},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + " [DONE]\n" + chunk(chatPiece("0", "", "", evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + " [DONE]\n" + chunk(chatPiece("0", `"a"`, `"Bash"`, evil))},
		{Chat, " [DONE]\n" + chunk(chatPiece("0", `"a"`, `"Bash"`, evil))},
		{Chat, ` {"choices":[{"index":0,"delta":{"tool_calls":[` + chatPiece("0", `"a"`, `"Bash"`, `"{}"`) + `]},"finish_reason":"tool_calls"}]}` + "\n" + chunk(chatPiece("0", `"b"`, `"Read"`, evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("1", `"a"`, `"Read"`, evil))},
		{Chat, chunk(chatPiece("0", "", `"Bash"`, `""`)) + chunk(chatPiece("1", `"a"`, `"Read"`, `""`)) + chunk(chatPiece("0", `"a"`, "", evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, evil)) + chunk(chatPiece("0", `"b"`, `"Bash"`, evil))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, evil)) + chunk(chatPiece("", `"b"`, `"Bash"`, `""`)) + chunk(chatPiece("", "", "", evil))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, evil)) + chunk(chatPiece("", `"b"`, `"Bash"`, evil)) + chunk(chatPiece("", `"a"`, `"Bash"`, evil))},
		{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("", `"b"`, `"Bash"`, evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("0", "", `"Read"`, evil))},
		{Chat, chunk(chatPiece("0", `"a"`, `" "`, `""`)) + chunk(chatPiece("0", "", `"Bash"`, evil))},
		{Chat, chunk(`{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"},"custom":{"name":"Read","input":"x"}}`)},
		{Chat, chunk(`{"index":0,"id":"a","custom":{"name":"Read","input":""}}`) + chunk(chatPiece("0", "", "", evil))},
		{Gemini, ` {"candidates":[],"response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"Bash"}}]}}]}}`},
	},
	"what clients drop": {
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"id":["c"],"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"model":1,"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"created":"1","choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"usage":[],"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"usage":{"prompt_tokens":"1"},"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"usage":{"prompt_tokens_details":{"cached_tokens":true}},"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `{"choices"`, `{"usage":{"prompt_tokens_details":1},"choices"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"finish_reason":1,"delta":{`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"finish_reason":["stop"],"delta":{`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"logprobs":1,"delta":{`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"logprobs":{"content":[{}]},"delta":{`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"delta":{"role":"tool",`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"delta":{"role":["assistant"],`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"delta":{"content":1,`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"delta":{"reasoning":{},`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"delta":{`, `"delta":{"annotations":[{}],`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"function"`, `"type":"custom","function"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"function"`, `"type":1,"function"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"function"`, `"extra_content":1,"function"`, 1)},
		{Chat, strings.Replace(chunk(chatPiece("0", `"a"`, `"Bash"`, evil)), `"function"`, `"extra_content":{"google":{"thought_signature":1}},"function"`, 1)},
	},
	"names of events": {
		{Messages, withBash + `ping {"type":"content_block_delta","index":1,` + piece},
		{Messages, withBash + `ping {"type":"content_block_stop","index":1}`},
		{Messages, withBash + ` {"type":"content_block_delta","index":1,` + piece},
		{Messages, `content_block_start {"index":0,"content_block":` + use("a", "Bash") + `}`},
		{Responses, `ping {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f"}}`},
		{Chat, `thread.x {"choices":[]}`},
		{Gemini, `x {"candidates":[{"content":{"parts":[{"functionCall":{"name":"Bash"}}]}}]}`},
	},
}

// plainStreams are streams that all clients read alike, unusual ones among them, with the calls that they
// hold.
var plainStreams = []struct {
	stream
	want string
}{
	{stream{Messages, withBash + pieceAt("1", evil) + stopBash + block("2", `{"type":"server_tool_use","id":"b","name":"web_search","input":{}}`) + pieceAt("2", evil) + endOf("2")}, `Bash {"command":"x"}`},
	{stream{Messages, withBash + stopBash + block("2", use("b", "Read")) + pieceAt("2", `""`) + endOf("2")}, "Bash {}; Read"},
	{stream{Messages, withBash + pieceAt("1", `"{\"a\":\"\ud83d"`) + pieceAt("1", `"\ude00\"}"`)}, `Bash {"a":"😀"}`},
	{stream{Messages, withBash + pieceAt("1", `"{\"a\":\"\\ud8"`) + pieceAt("1", `"3d\\ude00\"}"`)}, `Bash {"a":"\ud83d\ude00"}`},
	{stream{Messages, withBash + block("2", use("b", "Read")) + pieceAt("2", evil) + pieceAt("1", `"{}"`) + stopBash + endOf("2")}, `Bash {}; Read {"command":"x"}`},
	{stream{Messages, `message_start {"type":"message_start","message":{"content":[` + use("a", "Bash") + `]}}`}, "Bash {}"},
	{stream{Messages, block("7", `{"type":"text"}`) + endOf("7") + block("7", `{"type":"text"}`)}, ""},
	{stream{Messages, block("0", `{"type":"tool_use","id":"a","name":"\u0042ash","input":{"a":1}}`) + endOf("0")}, `Bash {"a":1}`},
	{stream{Responses, item("added", "0", `{"type":"message"}`) + item("done", "0", `{"type":"message"}`) + item("added", "1", function("a", "f", `""`)) + args("delta", "1", evil) + args("done", "1", evil) + item("done", "1", function("a", "f", evil)) +
		`response.completed {"type":"response.completed","response":{"output":[{"type":"message"},` + function("a", "f", evil) + `]}}`}, `f {"command":"x"}`},
	{stream{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", evil) + `response.completed {"type":"response.completed","response":{"output":[]}}`}, `f {"command":"x"}`},
	{stream{Responses, item("added", "0", function("a", "f", `""`)) + args("delta", "0", evil)}, `f {"command":"x"}`},
	{stream{Responses, item("done", "3", function("a", "f", evil)) + item("done", "1", function("b", "f", evil))}, `f {"command":"x"}; f {"command":"x"}`},
	{stream{Responses, ` {"type":"response.output_item.added","item":` + function("a", "f", `""`) + "}\n" + ` {"type":"response.function_call_arguments.delta","delta":` + evil + "}\n" + ` {"type":"response.output_item.done","item":` + function("a", "f", evil) + "}\n"}, `f {"command":"x"}`},
	{stream{Responses, `response.created {"type":"response.created","response":{"output":[]}}` + "\n" + item("done", "0", `{"type":"custom_tool_call","call_id":"a","name":"apply_patch","input":"x"}`)}, "apply_patch x"},
	{stream{Responses, `response.completed {"type":"response.completed","response":{"output":[` + function("a", "f", evil) + `]}}` + "\n [DONE]\n [DONE]"}, `f {"command":"x"}`},
	{stream{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("1", `"b"`, `"Read"`, `""`)) + chunk(chatPiece("1", "", "", `"{}"`)+","+chatPiece("0", "null", "null", evil)) + " [DONE]"}, `Bash {"command":"x"}; Read {}`},
	{stream{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("", "", "", evil))}, `Bash {"command":"x"}`},
	{stream{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, evil) + "," + chatPiece("", `"b"`, `"Read"`, `"{}"`))}, `Bash {"command":"x"}; Read {}`},
	{stream{Chat, chunk(chatPiece("", `"a"`, `"Bash"`, evil)) + chunk(chatPiece("", `"b"`, `"Read"`, `"{}"`)) + chunk(chatPiece("", `"c"`, `"Read"`, `"{}"`)) + " [DONE]"}, `Bash {"command":"x"}; Read {}; Read {}`},
	{stream{Chat, ` {"id":"c","object":"chat.completion.chunk","created":1.5,"model":"m","system_fingerprint":null,"usage":{"prompt_tokens":1,"cost":"x","prompt_tokens_details":{"cached_tokens":null},"completion_tokens_details":null},"choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,"delta":{"role":"assistant","content":null,"annotations":[],"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"Bash","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}}]}`}, "Bash {}"},
	{stream{Chat, ` {"choices":[{"message":{"tool_calls":[` + chatPiece("", "", `"Bash"`, evil) + "," + chatPiece("", `""`, `"Read"`, `"{}"`) + `]},"finish_reason":"tool_calls"}]}`}, `Bash {"command":"x"}; Read {}`},
	{stream{Chat, ` {"choices":[{"message":{"tool_calls":[` + chatPiece("", `"a"`, `"Bash"`, `{"command":"x"}`) + `]},"finish_reason":"tool_calls"}]}`}, `Bash {"command":"x"}`},
	{stream{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `null`)) + ` {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n" + ` {"choices":[],"usage":{}}`}, "Bash"},
	{stream{Chat, chunk(chatPiece("0", `"a"`, `"Bash"`, `""`)) + chunk(chatPiece("0", `"a"`, `""`, evil))}, `Bash {"command":"x"}`},
	{stream{Chat, ` {"choices":[{"index":0,"delta":{"function_call":{"name":"Bash","arguments":""}}}]}` + "\n" + ` {"choices":[{"index":0,"delta":{"function_call":{"arguments":` + evil + `}}}]}`}, `Bash {"command":"x"}`},
	{stream{Gemini, ` {"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"Bash","args":{"command":"x"}}},{"functionCall":{"id":"a","name":"Bash"}}]}}]}`}, `Bash {"command":"x"}; Bash`},
}

func TestAmbiguousStreams(t *testing.T) {
	for what, streams := range ambiguousStreams {
		for _, one := range streams {
			if calls, err := readAll(one.api, one.text); err == nil {
				t.Errorf("%s: no error, but %s for\n%s", what, describeCalls(calls), one.text)
			}
		}
	}
}

func TestPlainStreams(t *testing.T) {
	for _, one := range plainStreams {
		if calls, err := readAll(one.api, one.text); err != nil || describeCalls(calls) != one.want {
			t.Errorf("%v %s, and it should be %s, of\n%s", err, describeCalls(calls), one.want, one.text)
		}
	}
}

// A piece for which a client sees no room in its own call goes to a call beside it. So no call beside one
// that cannot be read can be read.
func TestCallsBesideAnUnreadableOne(t *testing.T) {
	for _, text := range []string{
		chunk(chatPiece("0", `"a"`, `"Read"`, `"{}"`)) + chunk(chatPiece("1", `"b"`, `"Bash"`, `"{"`)) + chunk(chatPiece("0", "", "", `"\"command\":\"evil\","`)) + chunk(chatPiece("1", "", "", `"\"x\":1}"`)),
		chunk(chatPiece("0", `"a"`, `"Read"`, `"1"`)) + chunk(chatPiece("1", `"b"`, `"Bash"`, `"{\"a\":\""`)) + chunk(chatPiece("0", "", "", `"2"`)) + chunk(chatPiece("1", "", "", `"\"}"`)) + " [DONE]",
		chunk(chatPiece("0", `"a"`, `"Read"`, `"{"`)) + chunk(chatPiece("1", `"b"`, `"Bash"`, `"{}"`)) + ` {"choices":[{"index":0,"finish_reason":"length"}]}`,
	} {
		calls, err := readAll(Chat, text)
		if err != nil || len(calls) != 2 || calls[0].Bad == "" || calls[1].Bad == "" {
			t.Errorf("%v %s of\n%s", err, describeCalls(calls), text)
		}
	}
}

// Some clients put the pieces behind what stood in the call's beginning.
func TestPiecesBehindABeginning(t *testing.T) {
	for _, begin := range []string{`null`, `{"a":""}`, `"{}"`, `1`, `["x"]`} {
		added := item("added", "0", function("a", "f", begin))
		calls, err := readAll(Responses, added+args("delta", "0", evil))
		if err == nil && (len(calls) != 1 || calls[0].Bad == "") {
			t.Errorf("%s cut: %v", begin, describeCalls(calls))
		}
		calls, err = readAll(Responses, added+args("delta", "0", evil)+item("done", "0", function("a", "f", evil)))
		if got := describeCalls(calls); err == nil && got != `f {"command":"x"}` {
			t.Errorf("%s whole: %s", begin, got)
		}
	}
}

func describeCalls(calls []*Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, strings.TrimSpace(c.Name+" "+string(c.Args)+c.Text+c.Bad))
	}
	return strings.Join(all, "; ")
}

func readAll(api API, text string) (calls []*Call, err error) {
	s := NewStream(api)
	for line := range strings.Lines(text) {
		name, data, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		step, err := s.ReadEvent(name, []byte(data))
		if err != nil {
			return nil, err
		}
		calls = append(calls, step.Calls...)
	}
	return append(calls, s.Finish().Calls...), nil
}

func TestPathsOfOtherLetters(t *testing.T) {
	for path, api := range map[string]API{"/v1/MESSAGES": Messages, "/v1beta/models/x:STREAMgeneratecontent": Gemini, "/v1/messages/models": NoAPI} {
		if got := FindAPI(path); got != api {
			t.Errorf("%s: %s", path, got)
		}
	}
	if IsSilent("/v1/messages/models") || !IsSilent("/v1/models") {
		t.Error("only a list of models is silent")
	}
}
