package web

import (
	"mime"
	"net/http"
	"strings"

	"github.com/clawai/clawai/internal/page"
)

// policyOf returns the Content-Security-Policy of a response. Scripts and styles must carry the
// nonce of their page. If the nonce is "", no script and no style is allowed.
func policyOf(nonce string) string {
	own := "'none'"
	if nonce != "" {
		own = "'nonce-" + nonce + "'"
	}
	return "default-src 'none'; script-src " + own + "; style-src " + own +
		"; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
}

// refusal is the error of a request that is not answered.
type refusal = page.Refusal

var (
	notFound = &refusal{Status: http.StatusNotFound, Text: "There is nothing here."}
	stranger = &refusal{Status: http.StatusUnauthorized, Text: "This page is not connected. Press Enter in the terminal where clawai dashboard or clawai approve --web runs, or start it again, and open the new link."}
	usedLink = &refusal{Status: http.StatusForbidden, Text: "This link has been used, or a newer one was made. Press Enter in the terminal where clawai dashboard or clawai approve --web runs, or start it again, and open the new link. If it was not you who opened it, end clawai with Ctrl-C."}
	badBody  = &refusal{Status: http.StatusBadRequest, Text: "The request cannot be read."}
	notJSON  = &refusal{Status: http.StatusUnsupportedMediaType, Text: "The request is not application/json."}
	tooLong  = &refusal{Status: http.StatusRequestEntityTooLarge, Text: "The request is too long."}
	tooMany  = &refusal{Status: http.StatusServiceUnavailable, Text: "Too many pages are open. Close one and load this page again."}
)

// isJSON reports whether the request has the content type of JSON. Another site's form cannot send
// this content type; only a script can.
func isJSON(r *http.Request) bool {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json" && len(r.Header.Values("Content-Type")) == 1 &&
		(len(params) == 0 || len(params) == 1 && strings.EqualFold(params["charset"], "utf-8"))
}
