package model

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/modelapi"
)

// errorBody returns an error in the form of the service. A refusal by a rule has the status 400.
// With 403, Claude Code would tell its user to sign in again, and Codex would try five more times.
func errorBody(api modelapi.API, status int, text string) []byte {
	quoted := escape.QuoteText(text)
	kind, word, name := "api_error", "server_error", "INTERNAL"
	if status == http.StatusBadRequest { // after an error of this kind the client does not try again
		kind, word, name = "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"
	}
	switch api {
	case modelapi.Messages:
		return fmt.Appendf(nil, `{"type":"error","error":{"type":%q,"message":%s}}`, kind, quoted)
	case modelapi.Gemini:
		return fmt.Appendf(nil, `{"error":{"code":%s,"message":%s,"status":%q}}`, strconv.Itoa(status), quoted, name)
	default:
		return fmt.Appendf(nil, `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`, quoted, word)
	}
}

// errorEvent returns an event that ends a stream with an error, in the form of the service.
func errorEvent(api modelapi.API, text string) []byte {
	quoted := escape.QuoteText("clawai: " + text)
	switch api {
	case modelapi.Messages:
		return fmt.Appendf(nil, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":%s}}\n\n", quoted)
	case modelapi.Responses:
		return fmt.Appendf(nil, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":%s}}}\n\n", quoted)
	default:
		return append(append([]byte("data: "), errorBody(api, 500, "clawai: "+text)...), "\n\n"...)
	}
}

// keepAlive returns an event that means nothing. It keeps a stream alive while a person is asked.
func keepAlive(api modelapi.API) []byte {
	if api == modelapi.Messages {
		return []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")
	}
	return []byte(": clawai asks the owner\n\n")
}
