package oauth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// answerTransport hands JSON to the libraries in the form that they read. They refuse a whole
// answer for a type in its header, a number with a fraction, or a member that nobody asked for,
// and with an answer to a refresh the token that it changed is lost.
type answerTransport struct{ next http.RoundTripper }

// textMembers are the texts that clawai or a library reads of an answer to a registration or a
// request for a token.
var textMembers = []string{
	"client_id", "client_secret", "token_endpoint_auth_method",
	"access_token", "token_type", "refresh_token", "scope", "error", "error_description", "error_uri",
}

// RoundTrip reads the answer whole: one that breaks off is none.
func (a answerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := cmp.Or(a.next, http.DefaultTransport).RoundTrip(r)
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

// plainAnswer gives an answer with the members alone that somebody reads, in the types that they
// are read in.
func plainAnswer(doc map[string]json.RawMessage) []byte {
	plain := make(map[string]any)
	for _, name := range textMembers {
		var text *string
		if json.Unmarshal(doc[name], &text) == nil && text != nil {
			plain[name] = *text
		}
	}
	if seconds, ok := wholeSeconds(doc["expires_in"]); ok {
		plain["expires_in"] = seconds
	}
	body, _ := json.Marshal(plain) // texts and a number can be written
	return body
}

// wholeSeconds reads a time to live; some write it as a text. A part of a second is left out, but
// for the only one: nought would be for ever.
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
