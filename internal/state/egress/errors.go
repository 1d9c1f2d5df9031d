package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Error is a failure with a text of our own: the cause, and what to do next. In the text, words
// from a server are quoted.
type Error struct {
	text    string
	err     error
	Lasting bool // the same request would fail again
}

func newError(lasting bool, err error, format string, a ...any) *Error {
	return &Error{fmt.Sprintf(format, a...), err, lasting}
}

func (e *Error) Error() string { return e.text }

func (e *Error) Unwrap() error { return e.err }

// explainError returns the error of a request. If the cause is known, the error is in our own
// words.
func (by *route) explainError(err error, u *url.URL) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own // return only this error, without the words that net/http puts before it
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	where, failed := u.Host, err
	if by.through != nil {
		if failed := by.through.explainSOCKS(err, u.Host); failed != nil {
			return failed
		}
		where += ", reached through " + by.through.String()
	}
	if by.trust != nil {
		failed = by.trust.explainTLS(err, where, by.asked.Load())
	}
	_, known := errors.AsType[*Error](failed)
	switch {
	case known:
		return failed
	case by.asked.Load() && !by.heard.Load() && isBroken(err):
		return by.trust.explainBreak(err, where)
	case by.through != nil:
		return by.through.explainSilence(err, u.Host)
	}
	return err
}

// isBroken reports whether an error may mean that the other side ended the connection. It returns
// false for a timeout and for a failed dial. For example, a TLS 1.3 server that refuses a client
// certificate ends the connection after the handshake, and the alert with the reason can be lost.
func isBroken(err error) bool {
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return false
	}
	failed, ok := errors.AsType[*net.OpError](err)
	return !ok || failed.Op != "dial"
}

// explainBreak returns the error for a server that asked for a certificate and then ended the
// connection.
func (t *trust) explainBreak(err error, where string) error {
	if t.client == nil {
		return t.certificateWanted(where, err)
	}
	return newError(false, err, "%s ended the connection, and probably refuses the client certificate %s; look at it with: clawai doctor --all", where, t.client.cert)
}

// explainTLS returns the error for a failed TLS connection to the proxy itself.
func (p *proxyAddress) explainTLS(err error, secured *trust, asked bool) error {
	if failed, ok := errors.AsType[*Error](secured.explainTLS(err, p.String(), asked)); ok {
		return failed
	}
	return p.explainDial(err)
}

// explainTLS returns a TLS error in our own words. The parameter where names the other side of the
// connection. The parameter asked is true if the other side has asked for a certificate.
func (t *trust) explainTLS(err error, where string, asked bool) error {
	if alert := readAlert(err); alert != 0 {
		return t.explainAlert(alert, err, where, asked)
	}
	failed, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok {
		return err
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	wrong, isWrong := errors.AsType[x509.HostnameError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired && invalid.Cert != nil:
		what := "expired on " + invalid.Cert.NotAfter.Format(time.DateOnly)
		if time.Now().Before(invalid.Cert.NotBefore) {
			what = "is valid only from " + invalid.Cert.NotBefore.Format(time.DateOnly) + " on"
		}
		return newError(true, err, "a certificate of %s (%s) %s; look at this machine's clock, and then ask whoever runs the server for a new one", where, quoteName(invalid.Cert), what)
	case isWrong:
		return newError(true, err, "the certificate of %s is for %s and not for %.100q; use the address that the certificate names", where, listNames(wrong.Certificate), wrong.Host)
	}
	issuer := "an unknown authority"
	if n := len(failed.UnverifiedCertificates); n > 0 {
		issuer = fmt.Sprintf("%.100q", failed.UnverifiedCertificates[n-1].Issuer.String())
	}
	return newError(true, err, "the certificate of %s is issued by %s, which nothing that was read vouches for; if you trust that issuer, name the PEM file of its certificate in NODE_EXTRA_CA_CERTS, in SSL_CERT_FILE or in config.toml ([tls] ca = \"FILE\"); read were %s",
		where, issuer, t.listRead())
}

// explainAlert returns the error for a TLS alert that the other side has sent.
func (t *trust) explainAlert(alert tls.AlertError, err error, where string, asked bool) error {
	switch {
	case t.client != nil && alert != alertHandshakeFailure:
		return newError(true, err, "%s refuses the client certificate %s (%s); look at it with: clawai doctor --all", where, t.client.cert, strings.TrimPrefix(alert.Error(), "tls: "))
	case t.client == nil && (asked || alert == alertCertificateRequired):
		return t.certificateWanted(where, err)
	}
	return err
}

// certificateWanted is the error for a server that wants a certificate from us.
func (t *trust) certificateWanted(where string, err error) *Error {
	return newError(true, err, "%s asks for a client certificate, and there is none for it; write into %s: [tls.host.\"HOST\"] client_cert = \"FILE\", client_key = \"FILE\"", where, t.settingsName())
}

// The alerts about the other side's certificate (RFC 8446, section 6). alertHandshakeFailure may
// also have other reasons.
var certificateAlerts = []tls.AlertError{alertHandshakeFailure, 42, 43, 44, 45, 46, 48, 49, alertCertificateRequired}

const (
	alertHandshakeFailure    tls.AlertError = 40
	alertCertificateRequired tls.AlertError = 116
)

// readAlert returns the alert that the other side has sent about a certificate; 0 if err is no such
// alert. Package tls exports no type for this error, so readAlert compares its text with the text
// of each alert.
func readAlert(err error) tls.AlertError {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok || failed.Op != "remote error" {
		return 0
	}
	for _, alert := range certificateAlerts {
		if failed.Err.Error() == alert.Error() {
			return alert
		}
	}
	return 0
}

// checkAnswer returns an error for an answer that does not come from the server, and for an answer
// that only tells that our certificate is missing.
func (by *route) checkAnswer(resp *http.Response) error {
	switch page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"); {
	case resp.StatusCode == http.StatusProxyAuthRequired && by.through != nil && by.trust == nil:
		return by.through.credentialsError()
	case resp.StatusCode == http.StatusBadRequest && page && by.asked.Load() && by.trust.client == nil: // nginx answers a request without a certificate with such a page
		return by.trust.certificateWanted(resp.Request.URL.Host, nil)
	}
	return nil
}

// IsWebPage reports whether a web page answers. To a program that expects no page this is no answer, but for
// example the sign-in page of a proxy, also with the code 200.
func IsWebPage(resp *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/html")
}

// settingsName returns the path of config.toml.
func (t *trust) settingsName() string {
	if t.file == "" {
		return "config.toml"
	}
	return t.file
}

// listRead lists the files and folders whose authorities are accepted.
func (t *trust) listRead() string {
	all := []string{"the system's authorities"}
	for _, one := range t.read {
		all = append(all, one.path+" ("+one.from+")")
	}
	return strings.Join(all, ", ")
}

func quoteName(cert *x509.Certificate) string { return fmt.Sprintf("%.100q", cert.Subject.String()) }

// listNames lists the names for which a certificate is valid.
func listNames(cert *x509.Certificate) string {
	var all []string
	for _, ip := range cert.IPAddresses {
		all = append(all, ip.String())
	}
	all = append(all, cert.DNSNames...)
	if len(all) == 0 {
		return quoteName(cert)
	}
	const most = 5
	if len(all) > most {
		all = append(all[:most:most], "…")
	}
	return fmt.Sprintf("%.200q", strings.Join(all, ", "))
}
