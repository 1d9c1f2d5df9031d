// Package hostile contains frames that common parsers read in different ways. With such a frame,
// one parser could check a call and another parser could execute a different call. The tests of all
// readers of frames use these frames.
package hostile

import (
	"strconv"
	"strings"
)

// Frame is a line that every reader of frames must refuse.
type Frame struct {
	Name, Line string
	Code       string // expected code of the refusal
	ID         string // the id that the answer to the refused frame may have; "" if the answer must have no id
}

const (
	call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{}}}`
	ping = `{"jsonrpc":"2.0","id":6,"method":"ping"}`
	deep = 62 // number of levels that are still allowed inside the message and its params
)

// id1 is the start of a call up to its params. id1a is the start up to the call's arguments.
const (
	id1  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`
	id1a = id1 + `"name":"safe","arguments":{`
)

// Frames returns all frames. It builds them only when it is called, because some test binaries
// start hundreds of times as helper programs and do not need the frames.
func Frames() []Frame {
	return []Frame{
		// Two members have the same name. Most parsers take the last member, some take the first,
		// and one merges both.
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, "duplicate_name", "1"},
		{"method twice, one escaped", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}`, "duplicate_name", "1"},
		{"name twice", id1 + `"name":"safe","name":"shell"}}`, "duplicate_name", "1"},
		{"name twice, one escaped", id1 + `"name":"safe","n\u0061me":"shell"}}`, "duplicate_name", "1"},
		{"name twice, both escaped", id1 + `"\u006eame":"safe","n\u0061me":"shell"}}`, "duplicate_name", "1"},
		{"arguments twice", id1 + `"arguments":{"a":1},"arguments":{"a":2}}}`, "duplicate_name", "1"},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"params":{"name":"shell"}}`, "duplicate_name", "1"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}`, "duplicate_name", ""},
		{"id twice and equal", `{"jsonrpc":"2.0","id":1,"method":"tools/call","id":1}`, "duplicate_name", ""},
		{"jsonrpc twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}`, "duplicate_name", "1"},
		{"result twice", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, "duplicate_name", ""},
		{"error twice", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{"code":1,"message":""}}`, "duplicate_name", ""},
		{"argument twice", id1a + `"path":"/a","path":"/b"}}}`, "duplicate_name", "1"},
		{"argument twice, solidus escaped", id1a + `"a/b":1,"a\/b":2}}}`, "duplicate_name", "1"},
		{"argument twice, pair escaped", id1a + `"😀":1,"\ud83d\ude00":2}}}`, "duplicate_name", "1"},
		{"empty name twice", id1a + `"":1,"":2}}}`, "duplicate_name", "1"},
		{"nested argument twice", id1a + `"o":[{"p":{"a":1,"b":2,"a":3}}]}}}`, "duplicate_name", "1"},
		{"twice among many", id1a + Many(1000) + `,"k500":0}}}`, "duplicate_name", "1"},
		{"escaped twin among many", id1a + Many(1000) + `,"k\u0035\u00300":0}}}`, "duplicate_name", "1"},
		{"twice in a result", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"a","text":"b"}]}}`, "duplicate_name", ""},
		{"twice in error data", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"a":1,"a":1}}}`, "duplicate_name", ""},

		// The names have the wrong case. Go servers before 1.3.1 and mcp-go accept such names, and
		// so does C# in params.
		{"Method for method", `{"jsonrpc":"2.0","id":1,"Method":"tools/call"}`, "folded_name", ""},
		{"Params for params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"shell"}}`, "folded_name", "1"},
		{"METHOD beside method", `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}`, "folded_name", "1"},
		{"ID for id", `{"jsonrpc":"2.0","ID":1,"method":"tools/call"}`, "folded_name", ""},
		{"Id beside id", `{"jsonrpc":"2.0","id":1,"Id":2,"method":"tools/call"}`, "folded_name", ""},
		{"dotted capital i in id", `{"jsonrpc":"2.0","id":1,"İd":2,"method":"tools/call"}`, "folded_name", ""},
		{"dotless i in id", `{"jsonrpc":"2.0","id":1,"ıd":2,"method":"tools/call"}`, "folded_name", ""},
		{"JSONRPC for jsonrpc", `{"JSONRPC":"2.0","id":1,"method":"ping"}`, "folded_name", "1"},
		{"long s in jsonrpc", `{"jſonrpc":"2.0","id":1,"method":"ping"}`, "folded_name", "1"},
		{"long s in params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"paramſ":{"name":"shell"}}`, "folded_name", "1"},
		{"long s in params, escaped", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"param\u017f":{}}`, "folded_name", "1"},
		{"long s in result", `{"jsonrpc":"2.0","id":1,"reſult":{}}`, "folded_name", ""},
		{"Result beside method", `{"jsonrpc":"2.0","id":1,"method":"ping","Result":{}}`, "folded_name", ""},
		{"Error beside result", `{"jsonrpc":"2.0","id":1,"result":{},"Error":{}}`, "folded_name", ""},
		{"NAME beside name", id1 + `"name":"safe","NAME":"shell"}}`, "folded_name", "1"},
		{"Arguments beside arguments", id1 + `"arguments":{},"Arguments":{"a":1}}}`, "folded_name", "1"},
		{"long s in arguments", id1 + `"arguments":{},"argument\u017f":{"a":1}}}`, "folded_name", "1"},
		{"Kelvin sign", id1 + `"key":1,"\u212aey":2}}`, "folded_name", "1"},
		{"sharp and capital sharp s", id1 + `"ß":1,"ẞ":2}}`, "folded_name", "1"},
		{"three sigmas", id1 + `"σ":1,"ς":2}}`, "folded_name", "1"},
		{"folded twin among many", id1[:len(id1)-1] + `{` + Many(100) + `,"K50":0}}`, "folded_name", "1"},
		{"long folded twins", id1 + `"` + strings.Repeat("k", 70) + `":1,"` + strings.Repeat("K", 70) + `":2}}`, "folded_name", "1"},
		{"long folded twins of other length", id1 + `"` + strings.Repeat("k", 40) + `":1,"` + strings.Repeat("\u212a", 40) + `":2}}`, "folded_name", "1"},
		{"long name twice", id1a + `"` + strings.Repeat("k", 64) + `\u006b":1,"` + strings.Repeat("k", 65) + `":2}}}`, "duplicate_name", "1"},
		{"folded twin in an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"Code":2,"message":"m"}}`, "folded_name", ""},
		{"Unicode twin in a notification", `{"jsonrpc":"2.0","method":"x","params":{"É":1,"é":2}}`, "folded_name", ""},

		// Some parsers shorten or drop these names.
		{"NUL behind name", id1 + `"name\u0000":"shell"}}`, "control_name", "1"},
		{"NUL behind method", `{"jsonrpc":"2.0","id":1,"method\u0000":"tools/call"}`, "unknown_member", ""},
		{"line feed in an argument's name", id1a + `"a\nb":1}}}`, "control_name", "1"},
		{"DEL in a name", id1a + "\"a\x7fb\":1}}}", "control_name", "1"},
		{"C1 control in a name", id1a + `"a\u0085b":1}}}`, "control_name", "1"},
		{"raw C1 control in a name", id1a + "\"a\u009bb\":1}}}", "control_name", "1"},
		{"control name in a result", `{"jsonrpc":"2.0","id":1,"result":{"\u001b[2J":1}}`, "control_name", ""},
		{"__proto__ argument", id1a + `"__proto__":{"path":"/etc"}}}}`, "proto_name", "1"},
		{"__proto__ in params", id1 + `"__proto__":{}}}`, "proto_name", "1"},
		{"__proto__ escaped", id1a + `"__pr\u006fto__":{}}}}`, "proto_name", "1"},
		{"__proto__ nested", id1a + `"a":[{"__proto__":1}]}}}`, "proto_name", "1"},
		{"__proto__ in the envelope", `{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}`, "unknown_member", "1"},

		// These lines are batches, or contain several values or line ends.
		{"batch", `[` + call + `]`, "batch", ""},
		{"empty batch", `[]`, "batch", ""},
		{"two values", ping + call, "trailing", ""},
		{"two values, blank between", ping + " " + call, "trailing", ""},
		{"value and garbage", call + "garbage", "trailing", ""},
		{"value and bracket", call + "}", "trailing", ""},
		{"value and comma", call + ",", "trailing", ""},
		{"several lines", strings.ReplaceAll(call, ",", ",\n"), "control_byte", ""},
		{"line feed before the end", call + "\n", "control_byte", ""},
		{"CR between two messages", ping + "\r" + call, "control_byte", ""},
		{"CR before a message", "\r" + call, "control_byte", ""},
		{"two CR at the end", call + "\r\r", "control_byte", ""},
		{"CR, then a blank", call + "\r ", "control_byte", ""},
		{"CR hides a call in a ping", `{"jsonrpc":"2.0","id":6,"method":"ping","params":{"a":` + "\r" + call + "\r}}", "control_byte", ""},
		{"CR hides a call in a notification", `{"jsonrpc":"2.0","method":"notifications/progress",` + "\r" + `"params":{"a":` + call + "\r}}", "control_byte", ""},
		{"CR hides an answer in a result", `{"jsonrpc":"2.0","id":6,"result":{"a":` + "\r" + `{"jsonrpc":"2.0","id":7,"result":{}}` + "\r}}", "control_byte", ""},
		{"byte order mark", "\uFEFF" + call, "bom", ""},
		{"byte order mark after a blank", " \uFEFF" + call, "bom", ""},
		{"byte order mark behind", call + "\uFEFF", "trailing", ""},
		{"UTF-16", utf16(call), "control_byte", ""},
		{"UTF-16 with mark", "\xFF\xFE" + utf16(call), "syntax", ""},
		{"NUL behind", call + "\x00", "control_byte", ""},
		{"NUL before", "\x00" + call, "control_byte", ""},
		{"NUL between tokens", `{"jsonrpc":"2.0","id":1,` + "\x00" + `"method":"ping"}`, "control_byte", ""},
		{"form feed as white space", "{\f" + call[1:], "control_byte", ""},
		{"vertical tab as white space", "{\v" + call[1:], "control_byte", ""},
		{"no-break space as white space", "{\u00a0" + call[1:], "syntax", ""},
		{"next line as white space", "{\u0085" + call[1:], "syntax", ""},
		{"line separator between messages", ping + "\u2028" + call, "trailing", ""},
		{"record separator before", "\x1e" + call, "control_byte", ""},
		{"escape sequence before", "\x1b[2J" + call, "control_byte", ""},
		{"Content-Length header", "Content-Length: 80", "syntax", ""},
		{"Content-Length header, CR", "Content-Length: 80\r", "syntax", ""},
		{"nothing", "", "blank", ""},
		{"blanks", " \t ", "blank", ""},
		{"CR alone", "\r", "blank", ""},

		// Only tolerant parsers accept these texts as JSON.
		{"block comment", `{/*c*/` + call[1:], "syntax", ""},
		{"line comment", call + "//c", "trailing", ""},
		{"hash comment", "#" + call, "syntax", ""},
		{"NaN", id1a + `"a":NaN}}}`, "syntax", ""},
		{"Infinity", id1a + `"a":Infinity}}}`, "syntax", ""},
		{"-Infinity", id1a + `"a":-Infinity}}}`, "syntax", ""},
		{"undefined", id1a + `"a":undefined}}}`, "syntax", ""},
		{"trailing comma in an object", id1a + `"a":1,}}}`, "syntax", ""},
		{"trailing comma in an array", id1a + `"a":[1,]}}}`, "syntax", ""},
		{"leading comma", id1a + `,"a":1}}}`, "syntax", ""},
		{"two commas", id1a + `"a":[1,,2]}}}`, "syntax", ""},
		{"single quotes", `{'jsonrpc':'2.0','id':1,'method':'ping'}`, "syntax", ""},
		{"bare names", `{jsonrpc:"2.0",id:1,method:"ping"}`, "syntax", ""},
		{"equals for colon", `{"jsonrpc"="2.0"}`, "syntax", ""},
		{"semicolon for comma", `{"jsonrpc":"2.0";"id":1,"method":"ping"}`, "syntax", ""},
		{"colon in an array", id1a + `"a":[1:2]}}}`, "syntax", ""},
		{"mismatched brackets", id1a + `"a":[1}]}}`, "syntax", ""},
		{"missing value", id1a + `"a":}}}`, "syntax", ""},
		{"missing colon", id1a + `"a" 1}}}`, "syntax", ""},
		{"number as a name", id1a + `1:1}}}`, "syntax", ""},
		{"tab in a string", id1a + "\"a\":\"\t\"}}}", "control_byte", ""},
		{"tab in a name", id1a + "\"a\t\":1}}}", "control_byte", ""},
		{"CR in a string", id1a + "\"a\":\"x\ry\"}}}", "control_byte", ""},
		{"leading zero", id1a + `"a":01}}}`, "syntax", ""},
		{"leading zero, negative", id1a + `"a":-01}}}`, "syntax", ""},
		{"leading plus", id1a + `"a":+1}}}`, "syntax", ""},
		{"leading point", id1a + `"a":.5}}}`, "syntax", ""},
		{"trailing point", id1a + `"a":1.}}}`, "syntax", ""},
		{"empty exponent", id1a + `"a":1e}}}`, "syntax", ""},
		{"signed empty exponent", id1a + `"a":1e+}}}`, "syntax", ""},
		{"minus alone", id1a + `"a":-}}}`, "syntax", ""},
		{"hexadecimal", id1a + `"a":0x10}}}`, "syntax", ""},
		{"underscore in a number", id1a + `"a":1_000}}}`, "syntax", ""},
		{"fullwidth digit", id1a + `"a":１}}}`, "syntax", ""},
		{"True", id1a + `"a":True}}}`, "syntax", ""},
		{"cut literal", id1a + `"a":tru`, "syntax", ""},
		{"literal with a tail", id1a + `"a":nullx}}}`, "syntax", ""},
		{"unknown escape", id1a + `"a":"\x41"}}}`, "syntax", ""},
		{"octal escape", id1a + `"a":"\101"}}}`, "syntax", ""},
		{"escaped quote of the lax", id1a + `"a":"\'"}}}`, "syntax", ""},
		{"short unicode escape", id1a + `"a":"\u12"}}}`, "syntax", ""},
		{"bad unicode escape", id1a + `"a":"\u12g4"}}}`, "syntax", ""},
		{"braced unicode escape", id1a + `"a":"\u{41}"}}}`, "syntax", ""},
		{"cut in an escape", id1a + `"a":"\`, "syntax", ""},
		{"cut in a string", id1a + `"a":"b`, "syntax", ""},
		{"cut in a unicode escape", id1a + `"a":"\u00`, "syntax", ""},
		{"cut after a name", id1a + `"a"`, "syntax", ""},
		{"cut after a colon", id1a + `"a":`, "syntax", ""},
		{"cut after a value", id1a + `"a":1`, "syntax", ""},
		{"cut after a comma", id1a + `"a":1,`, "syntax", ""},
		{"cut in params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{`, "syntax", ""},
		{"cut in an array", id1a + `"a":[`, "syntax", ""},
		{"cut in the envelope", `{"jsonrpc":"2.0","id":1,"method":"tools/call"`, "syntax", ""},
		{"brace alone", `{`, "syntax", ""},

		// Some parsers repair these texts, and other parsers refuse them.
		{"invalid UTF-8 in a value", id1a + "\"a\":\"\xff\"}}}", "utf8", "1"},
		{"invalid UTF-8 in a name", id1a + "\"a\xff\":1,\"a\xfe\":2}}}", "utf8", ""},
		{"invalid UTF-8 in the method", `{"jsonrpc":"2.0","id":1,"method":"tools/call` + "\xc0\"}", "utf8", "1"},
		{"overlong solidus", id1a + "\"a\":\"..\xc0\xaf..\"}}}", "utf8", "1"},
		{"overlong NUL", id1a + "\"a\":\"\xc0\x80\"}}}", "utf8", "1"},
		{"surrogate in UTF-8", id1a + "\"a\":\"\xed\xa0\x80\"}}}", "utf8", "1"},
		{"beyond Unicode", id1a + "\"a\":\"\xf4\x90\x80\x80\"}}}", "utf8", "1"},
		{"character cut short", id1a + "\"a\":\"\xe2\x82\"}}}", "utf8", "1"},
		{"lone high surrogate", id1a + `"a":"\ud800"}}}`, "surrogate", "1"},
		{"lone low surrogate", id1a + `"a":"\udc00"}}}`, "surrogate", "1"},
		{"two high surrogates", id1a + `"a":"\ud800\ud800"}}}`, "surrogate", "1"},
		{"high surrogate, then text", id1a + `"a":"\ud800xxxxxx"}}}`, "surrogate", "1"},
		{"high surrogate, then another escape", id1a + `"a":"\ud800\n12345"}}}`, "surrogate", "1"},
		{"high surrogate, then no hex", id1a + `"a":"\ud800\uzzzz"}}}`, "surrogate", ""},
		{"lone surrogate in a name", id1a + `"\udfff":1}}}`, "surrogate", "1"},
		{"lone surrogate behind a pair", id1a + `"a":"\ud83d\ude00\ud83d"}}}`, "surrogate", "1"},
		{"half a surrogate, half a character", id1a + "\"a\":\"\\ud83d\xff é\"}}}", "surrogate", "1"},
		{"lone surrogate in the id", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, "surrogate", ""},
		{"invalid UTF-8 in the id", "{\"jsonrpc\":\"2.0\",\"id\":\"a\xff\",\"method\":\"ping\"}", "utf8", ""},
		{"id beside one with invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\xff\":2,\"method\":\"ping\"}", "utf8", ""},
		{"lone surrogate, and two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"\ud800"}`, "surrogate", ""},
		{"lone surrogate in a notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"\ud800"}}`, "surrogate", ""},
		{"lone surrogate in an answer", `{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800"}}`, "surrogate", ""},
		{"lone surrogate, then a cut", id1a + `"a":"\ud800`, "surrogate", ""},

		// These lines are too deep. The limit of 64 levels is far below the limit of every parser.
		{"65 levels", id1a[:len(id1a)-1] + strings.Repeat(`[`, deep+1) + strings.Repeat(`]`, deep+1) + `}}`, "depth", "1"},
		{"65 levels of objects", id1a[:len(id1a)-1] + strings.Repeat(`{"a":`, deep) + `{}` + strings.Repeat(`}`, deep) + `}}`, "depth", "1"},
		{"100,000 levels", id1a[:len(id1a)-1] + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}}`, "depth", ""},
		{"100,000 levels of batches", strings.Repeat(`[`, 100_000), "batch", ""},
		{"too deep and broken", id1a[:len(id1a)-1] + strings.Repeat(`[`, 80), "syntax", ""},

		// These messages have a wrong form at the top level.
		{"string", `"tools/call"`, "not_object", ""},
		{"number", `1`, "not_object", ""},
		{"null", `null`, "not_object", ""},
		{"empty object", `{}`, "jsonrpc", ""},
		{"log line", `server listening on stdio`, "syntax", ""},
		{"JSON log line", `{"level":"info","msg":"ready"}`, "unknown_member", ""},
		{"no jsonrpc", `{"id":1,"method":"tools/call"}`, "jsonrpc", "1"},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"tools/call"}`, "jsonrpc", "1"},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"tools/call"}`, "jsonrpc", "1"},
		{"jsonrpc with a blank", `{"jsonrpc":"2.0 ","id":1,"method":"tools/call"}`, "jsonrpc", "1"},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"ping","meta":{}}`, "unknown_member", "1"},
		{"blank behind method", `{"jsonrpc":"2.0","id":1,"method ":"tools/call"}`, "unknown_member", ""},
		{"neither method nor result", `{"jsonrpc":"2.0","id":1}`, "shape", ""},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}`, "shape", ""},
		{"method and error", `{"jsonrpc":"2.0","id":1,"method":"tools/call","error":{"code":1,"message":""}}`, "shape", ""},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, "shape", ""},
		{"result and null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, "shape", ""},
		{"params with a result", `{"jsonrpc":"2.0","id":1,"params":{},"result":{}}`, "shape", ""},
		{"params alone", `{"jsonrpc":"2.0","id":1,"params":{}}`, "shape", ""},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, "method", ""},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, "method", ""},
		{"method an array", `{"jsonrpc":"2.0","id":1,"method":["tools/call"]}`, "method", ""},
		{"params false", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":false}`, "params", "1"},
		{"params null with a result", `{"jsonrpc":"2.0","id":1,"params":null,"result":{}}`, "shape", ""},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, "params", "1"},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{}"}`, "params", "1"},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, "result", ""},
		{"result a string", `{"jsonrpc":"2.0","id":1,"result":"ok"}`, "result", ""},
		{"error a string", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "error", ""},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`, "error", ""},
		{"error without message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "error", ""},
		{"error with a fraction", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"no"}}`, "error", ""},
		{"error with a string code", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}}`, "error", ""},
		{"error with a null message", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}`, "error", ""},
		{"cut in an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1`, "syntax", ""},
		{"empty error", `{"jsonrpc":"2.0","id":1,"error":{}}`, "error", ""},

		// These ids change when a parser reads them.
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"tools/call"}`, "id", ""},
		{"id 1e0", `{"jsonrpc":"2.0","id":1e0,"method":"tools/call"}`, "id", ""},
		{"id 1E2", `{"jsonrpc":"2.0","id":1E2,"method":"tools/call"}`, "id", ""},
		{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"tools/call"}`, "id", ""},
		{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"tools/call"}`, "id", ""},
		{"id 2^53", `{"jsonrpc":"2.0","id":9007199254740992,"method":"tools/call"}`, "id", ""},
		{"id 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call"}`, "id", ""},
		{"id -2^53", `{"jsonrpc":"2.0","id":-9007199254740992,"method":"tools/call"}`, "id", ""},
		{"id 2^63", `{"jsonrpc":"2.0","id":9223372036854775808,"method":"tools/call"}`, "id", ""},
		{"id 1e400", `{"jsonrpc":"2.0","id":1e400,"method":"tools/call"}`, "id", ""},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"tools/call"}`, "id", ""},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"tools/call"}`, "id", ""},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"tools/call"}`, "id", ""},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, "id", ""},
		{"id of 1025 bytes", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1025) + `","method":"tools/call"}`, "id", ""},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, "id", ""},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}`, "id", ""},
		{"error with id null, which ends Go clients", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, "id", ""},
		{"answer 1.0 to 1", `{"jsonrpc":"2.0","id":1.0,"result":{}}`, "id", ""},
		{"answer 1.9 to 1", `{"jsonrpc":"2.0","id":1.9,"result":{}}`, "id", ""},
	}
}

// Many returns n members of a JSON object, k0 to kn-1, each with its number as the value.
func Many(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strconv.Itoa(i) + `":` + strconv.Itoa(i))
	}
	return b.String()
}

// utf16 returns ASCII text as little-endian UTF-16.
func utf16(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(s[i:i+1] + "\x00")
	}
	return b.String()
}
