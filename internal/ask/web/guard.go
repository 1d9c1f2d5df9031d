package web

import (
	"mime"
	"net/http"
	"strings"
)

// policyOf returns the Content-Security-Policy. Scripts and styles need the nonce of their page;
// without a nonce nothing may run.
func policyOf(nonce string) string {
	own := "'none'"
	if nonce != "" {
		own = "'nonce-" + nonce + "'"
	}
	return "default-src 'none'; script-src " + own + "; style-src " + own +
		"; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
}

// setHeaders sets the headers of every response, including refusals.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policyOf(""))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Origin-Agent-Cluster", "?1")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), clipboard-read=(), usb=(), serial=()")
}

// refusal is the reason why a request is not answered.
type refusal struct {
	status int
	text   string
}

var (
	wrongHost = &refusal{http.StatusMisdirectedRequest, "This is not the address that clawai printed. Open the link exactly as it was printed."}
	elsewhere = &refusal{http.StatusForbidden, "Another site or program sent you here, and clawai does not follow. Copy the printed link into the address bar."}
	notFound  = &refusal{http.StatusNotFound, "There is nothing here."}
	stranger  = &refusal{http.StatusUnauthorized, "This page is not connected. Press Enter in the terminal where clawai dashboard or clawai approve --web runs, or start it again, and open the new link."}
	usedLink  = &refusal{http.StatusForbidden, "This link has been used, or a newer one was made. Press Enter in the terminal where clawai dashboard or clawai approve --web runs, or start it again, and open the new link. If it was not you who opened it, end clawai with Ctrl-C."}
	badBody   = &refusal{http.StatusBadRequest, "The request cannot be read."}
	notJSON   = &refusal{http.StatusUnsupportedMediaType, "The request is not application/json."}
	tooLong   = &refusal{http.StatusRequestEntityTooLarge, "The request is too long."}
	tooMany   = &refusal{http.StatusServiceUnavailable, "Too many pages are open. Close one and load this page again."}
)

func (e *refusal) Error() string { return e.text }

// checkOrigin refuses a request that neither our own page nor a person who types its address can
// have sent. Host stops a foreign name that resolves to this server (DNS rebinding); fetch
// metadata and Origin stop other sites, and pages on other ports of this machine.
func (s *Server) checkOrigin(r *http.Request, dest string) *refusal {
	if r.Host != s.host {
		return wrongHost
	}
	// Browsers from before 2023 may send no fetch metadata; then Origin and the key protect.
	site, to := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Sec-Fetch-Dest")
	if len(site) > 1 || len(site) == 1 && site[0] != "same-origin" && site[0] != "none" {
		return elsewhere
	}
	if len(to) > 1 || len(to) == 1 && dest != "" && to[0] != dest {
		return elsewhere
	}
	origin := r.Header.Values("Origin")
	if len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+s.host {
		return elsewhere
	}
	if len(origin) == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return elsewhere
	}
	return nil
}

// isJSON reports whether the body has a content type that only a script can send: a form of
// another site cannot.
func isJSON(r *http.Request) bool {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json" && len(r.Header.Values("Content-Type")) == 1 &&
		(len(params) == 0 || len(params) == 1 && strings.EqualFold(params["charset"], "utf-8"))
}
