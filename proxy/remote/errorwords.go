package remote

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// FailureWords returns a text about an error status for the caller, with the status, the
// Retry-After time and the server's reason. The code that shows the text must escape it.
func FailureWords(resp *http.Response, body []byte) string {
	words := "the server answered " + StatusText(resp)
	if after := resp.Header.Get("Retry-After"); after != "" && len(after) <= 40 {
		words += ", and wants no call before (Retry-After) " + after
		if strings.Trim(after, "0123456789") == "" {
			words += " s"
		}
	}
	if reason := reasonOf(resp.Header, body); reason != "" {
		words += ": " + reason
	}
	return words
}

// reasonOf returns the reason in a body: a plain text, or a common member of JSON. It ignores HTML,
// because HTML is for people.
func reasonOf(h http.Header, body []byte) string {
	const most = 200
	what, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	reason := ""
	switch {
	case what == "text/plain":
		reason = string(body[:min(len(body), 4*most)])
	case (what == "application/json" || strings.HasSuffix(what, "+json")) && gjson.ValidBytes(body):
		for _, found := range gjson.GetManyBytes(body, "error.message", "error_description", "message", "detail", "error", "title", "errors.0.message", "detail.0.msg") {
			if found.Type == gjson.String && found.Str != "" {
				reason = found.Str
				break
			}
		}
	}
	reason = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "\uFFFD")), " ")
	if len(reason) > most {
		cut := most
		for !utf8.RuneStart(reason[cut]) {
			cut--
		}
		reason = reason[:cut] + "…"
	}
	return reason
}
