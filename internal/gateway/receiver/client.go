package receiver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/clawai/clawai/internal/state/egress"
)

// defaultTimeout is the time limit of a request if no variable sets one. It is the default of OpenTelemetry.
const defaultTimeout = 10 * time.Second

// busyCodes are the statuses after which a sender of OTLP may send the same request again.
var busyCodes = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// AnswerError is an answer which shows that no receiver has read the request.
type AnswerError struct {
	Status string
	IsBusy bool          // the receiver asks for the same request at a later time
	IsPage bool          // the answer is a web page, such as the sign-in page of a proxy; if IsBusy and IsPage are false, the answer is a redirect
	After  time.Duration // how long the receiver wants the sender to wait; 0 if it does not say
}

// Error implements error.
func (e *AnswerError) Error() string {
	switch {
	case e.IsBusy:
		return "the receiver is busy: " + e.Status
	case e.IsPage:
		return "a web page answers and not a receiver of OTLP: " + e.Status + "; correct the address in the variable that names the receiver"
	}
	return "the receiver redirects, and the centre does not follow: " + e.Status + "; write the address where it redirects to into the variable that names the receiver"
}

// NewClient returns the HTTP client for the exporter of a signal. The exporters' own clients follow a redirect
// to any host, and send that host the headers of OTEL_EXPORTER_OTLP_HEADERS. If a variable is wrong, they use
// other settings than the owner chose. The errors of NewClient contain no values of variables, because values
// can be secrets.
func NewClient(getenv func(string) string, s Signal) (*http.Client, error) {
	timeout, err := readTimeout(getenv, s)
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(getenv, s); err != nil {
		return nil, err
	}
	if name, way := findVariable(getenv, s, "COMPRESSION"); !slices.Contains([]string{"", "none", "gzip"}, way) {
		return nil, fmt.Errorf("%s: it is gzip or none", name)
	}
	certificates, err := loadCertificates(getenv, s)
	if err != nil {
		return nil, err
	}
	transport := egress.Network{}.NewTransport(egress.Options{Tune: func(t *http.Transport) {
		t.MaxIdleConns, t.TLSHandshakeTimeout = 2, timeout
		if certificates != nil { // the variables of OpenTelemetry replace the settings of this machine
			t.TLSClientConfig = certificates
		}
	}})
	return &http.Client{Timeout: timeout, Transport: strictTransport{transport}}, nil
}

// strictTransport returns an AnswerError if a receiver is busy or redirects, or if a web page answers. The exporters
// do not report the status of a busy receiver, or how long it asks the sender to wait. They take a web page with the
// status 200 for a success.
type strictTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t strictTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	isBusy := slices.Contains(busyCodes, answer.StatusCode)
	isPage := answer.StatusCode/100 == 2 && egress.IsWebPage(answer)
	if !isBusy && !isPage && answer.StatusCode/100 != 3 {
		return answer, nil
	}
	_ = answer.Body.Close()
	return nil, &AnswerError{
		Status: strings.TrimSpace(strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode)),
		IsBusy: isBusy, IsPage: isPage, After: readDelay(answer.Header.Get("Retry-After")),
	}
}

// readDelay reads Retry-After: seconds or a date.
func readDelay(text string) time.Duration {
	const most = 24 * 60 * 60
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(min(n, most)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func readTimeout(getenv func(string) string, s Signal) (time.Duration, error) {
	name, text := findVariable(getenv, s, "TIMEOUT")
	if text == "" {
		return defaultTimeout, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s: it is a number of milliseconds, such as 10000", name)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func checkHeaders(getenv func(string) string, s Signal) error {
	name, text := findVariable(getenv, s, "HEADERS")
	if text == "" {
		return nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, escaped, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(escaped)
		if !found || err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(key)) || !httpguts.ValidHeaderFieldValue(strings.TrimSpace(value)) {
			return fmt.Errorf("%s: it has the form NAME=VALUE,NAME=VALUE, with %%20 for a blank in a value, %%2C for a comma and %%25 for %%", name)
		}
	}
	return nil
}

// loadCertificates returns the TLS settings in the variables; nil if no variable has one.
func loadCertificates(getenv func(string) string, s Signal) (*tls.Config, error) {
	caName, ca := findVariable(getenv, s, "CERTIFICATE")
	certName, cert := findVariable(getenv, s, "CLIENT_CERTIFICATE")
	keyName, key := findVariable(getenv, s, "CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	if name, address := findVariable(getenv, s, "ENDPOINT"); strings.HasPrefix(strings.ToLower(address), "http:") {
		return nil, fmt.Errorf("%s: an address with http:// uses no certificates; write https://, or leave out %s, %s and %s", name, caName, certName, keyName)
	}
	is := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", caName, err)
		}
		if is.RootCAs = x509.NewCertPool(); !is.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM", caName, ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, fmt.Errorf("%s and %s: set both, or none", certName, keyName)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", certName, keyName, err)
		}
		is.Certificates = []tls.Certificate{pair}
	}
	return is, nil
}
