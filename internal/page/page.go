// Package page has the common parts of all pages of clawai: the style sheet, the icon, the headers
// of each response, and a check of the origin of each request. It does not know the content of a
// page.
package page

import (
	_ "embed"
	"net/http"
	"strings"
)

// Style is the style sheet of every page.
//
//go:embed page.css
var Style []byte

// Icon is the icon of every page, as SVG.
//
//go:embed icon.svg
var Icon []byte

// SetHeaders sets the headers of every response, also of refusals. policy is the
// Content-Security-Policy.
func SetHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
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

// Refusal says why a request is not answered. Text is one or more sentences for a person.
type Refusal struct {
	Status int // HTTP status
	Text   string
}

func (e *Refusal) Error() string { return e.Text }

var (
	wrongHost = &Refusal{http.StatusMisdirectedRequest, "This is not the address that clawai printed. Open the link exactly as it was printed."}
	elsewhere = &Refusal{http.StatusForbidden, "Another site or program sent you here, and clawai does not follow. Copy the printed link into the address bar."}
)

// CheckHost refuses a request for a host other than the host of origin. origin has a scheme and a host,
// such as http://127.0.0.1:8470. The check stops other names that resolve to this server (DNS
// rebinding).
func CheckHost(r *http.Request, origin string) *Refusal {
	if _, host, _ := strings.Cut(origin, "://"); r.Host != host {
		return wrongHost
	}
	return nil
}

// CheckOrigin refuses a request unless it comes from a page of origin, or from a person who typed its
// address. It checks the host, the fetch metadata and the header Origin. This stops other sites, and
// pages on other ports of this machine. dest is the required Sec-Fetch-Dest; "" allows any.
func CheckOrigin(r *http.Request, origin, dest string) *Refusal {
	if err := CheckHost(r, origin); err != nil {
		return err
	}
	// Browsers from before 2023 may send no fetch metadata. Then the server relies on Origin and on the
	// key of the page.
	site, to := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Sec-Fetch-Dest")
	if len(site) > 1 || len(site) == 1 && site[0] != "same-origin" && site[0] != "none" {
		return elsewhere
	}
	if len(to) > 1 || len(to) == 1 && dest != "" && to[0] != dest {
		return elsewhere
	}
	from := r.Header.Values("Origin")
	if len(from) > 1 || len(from) == 1 && from[0] != origin {
		return elsewhere
	}
	if len(from) == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return elsewhere
	}
	return nil
}
