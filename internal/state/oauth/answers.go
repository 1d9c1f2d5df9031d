package oauth

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// answerTransport changes JSON answers into the form that the libraries accept. The libraries
// reject a whole answer because of its Content-Type, a number with a fraction, or a malformed
// member that clawai does not need. In a refresh, the new refresh token would then be lost.
type answerTransport struct{ next http.RoundTripper }

// textMembers are the members with texts in an answer to a request for a registration, a token or a
// device code. clawai or a library reads them.
var textMembers = []string{
	"client_id", "client_secret", "token_endpoint_auth_method",
	"access_token", "token_type", "refresh_token", "scope", "error", "error_description", "error_uri",
	"device_code", "user_code", "verification_uri", "verification_url", "verification_uri_complete",
}

// timeMembers are the members that hold a number of seconds.
var timeMembers = []string{"expires_in", "interval"}

// RoundTrip reads the whole answer. An incomplete answer is an error.
func (a answerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	var doc map[string]json.RawMessage
	if json.Unmarshal(body, &doc) == nil && doc != nil {
		resp.Header.Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			body = plainAnswer(doc)
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// plainAnswer returns the answer as JSON. It keeps only the members that are read, in the types
// that the libraries expect.
func plainAnswer(doc map[string]json.RawMessage) []byte {
	plain := make(map[string]any)
	for _, name := range textMembers {
		var text *string
		if json.Unmarshal(doc[name], &text) == nil && text != nil {
			plain[name] = *text
		}
	}
	for _, name := range timeMembers {
		if seconds, ok := wholeSeconds(doc[name]); ok {
			plain[name] = seconds
		}
	}
	body, _ := json.Marshal(plain) // an error is not possible for texts and a number
	return body
}

// wholeSeconds parses a time to live in seconds. Some servers write this time as a text.
// wholeSeconds drops a fraction of a second, but returns 1 for less than a second, because 0 would
// mean no expiry.
func wholeSeconds(written json.RawMessage) (int64, bool) {
	seconds, err := strconv.ParseFloat(strings.Trim(string(written), `"`), 64)
	if err != nil || math.IsNaN(seconds) {
		return 0, false
	}
	if seconds > 0 {
		seconds = max(seconds, 1)
	}
	return int64(min(max(seconds, math.MinInt32), math.MaxInt32)), true
}
