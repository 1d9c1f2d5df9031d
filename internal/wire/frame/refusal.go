package frame

// Refusal is the reason why bytes are not admitted as a frame. Parse returns no other error.
// ReadLine of a Reader also returns it.
type Refusal struct {
	Code   string // stable machine word, one of the Code constants
	Reason string // one sentence for people, without any text of the frame

	// ID is the JSON token of the request's id. It is set only if every reader reads the frame as a
	// request with this id, because then the frame can be answered with an error. Otherwise the
	// frame can only be dropped.
	ID []byte

	Request bool // the frame has a method and an id, but the id may be invalid
	Offset  int  // byte offset of the fault in the line; 0 also for a fault of the whole line
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// The codes of refusals. Their meaning never changes, because records and tests use them.
const (
	CodeTooLong   = "too_long"
	CodeTruncated = "truncated"
	CodeBlank     = "blank"

	CodeBOM       = "bom"
	CodeControl   = "control_byte"
	CodeUTF8      = "utf8"
	CodeSurrogate = "surrogate"
	CodeSyntax    = "syntax"
	CodeTrailing  = "trailing"
	CodeDepth     = "depth"

	CodeDuplicate   = "duplicate_name"
	CodeFolded      = "folded_name"
	CodeControlName = "control_name"
	CodeProto       = "proto_name"
	CodeBigNumber   = "big_number"

	CodeNotObject = "not_object"
	CodeBatch     = "batch"
	CodeUnknown   = "unknown_member"
	CodeVersion   = "jsonrpc"
	CodeShape     = "shape"
	CodeID        = "id"
	CodeMethod    = "method"
	CodeParams    = "params"
	CodeResult    = "result"
	CodeErr       = "error"
)

// reasons has one sentence for each code.
var reasons = [...]struct{ code, sentence string }{
	{CodeTooLong, "the line is longer than the frame limit"},
	{CodeTruncated, "the stream ended in the middle of a line"},
	{CodeBlank, "the line is blank"},
	{CodeBOM, "the line starts with a byte order mark"},
	{CodeControl, "the line holds a control byte that JSON readers treat differently"},
	{CodeUTF8, "the line is not valid UTF-8"},
	{CodeSurrogate, "a string holds half of a surrogate pair"},
	{CodeTrailing, "something follows the JSON value"},
	{CodeDepth, "values are nested deeper than the limit"},
	{CodeDuplicate, "an object names one member twice"},
	{CodeFolded, "two member names, or one and the protocol's own, differ only in case"},
	{CodeControlName, "a member name holds a control character"},
	{CodeProto, "a member is named __proto__, which some readers drop"},
	{CodeBigNumber, "a number is too large for every reader to keep"},
	{CodeNotObject, "the value is not a JSON object"},
	{CodeBatch, "batches exist only in protocol version 2025-03-26, with 1 to 1000 elements"},
	{CodeUnknown, "the message has a member JSON-RPC does not define"},
	{CodeVersion, `jsonrpc is not the string "2.0"`},
	{CodeShape, "the message needs exactly one of method, result and error, and params only with method"},
	{CodeID, "the id is neither a string of at most 1024 bytes nor an integer every reader keeps"},
	{CodeMethod, "the method is not a string with text in it"},
	{CodeParams, "params is not an object"},
	{CodeResult, "result is not an object"},
	{CodeErr, "error is not an object with an integer code and a string message"},
	{CodeSyntax, "the line is not one strict JSON value"},
}

func refuseAt(code string, offset int) *Refusal {
	r := &Refusal{Code: code, Offset: offset}
	for i := range reasons {
		if reasons[i].code == code {
			r.Reason = reasons[i].sentence
		}
	}
	return r
}
