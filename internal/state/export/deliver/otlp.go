package deliver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/export"
)

// OTLP is a sink that sends events as logs of OTLP/JSON over HTTP. A receiver takes or refuses a
// whole request, or its answer tells how many records of the request it has refused.
type OTLP struct {
	url    string
	header http.Header
	client *http.Client
	source export.Source
	pause  time.Duration
}

const (
	requestTimeout = 10 * time.Second
	longestWait    = 30 * time.Second // longest waiting time that a receiver can ask for
	longestAnswer  = 64 << 10         // maximum number of bytes that are read from an answer
)

// NewOTLP returns a sink for the address of a receiver's logs. header holds additional HTTP
// headers.
func NewOTLP(address *url.URL, header http.Header, by *egress.Transport, s export.Source) *OTLP {
	client := &http.Client{Transport: by, Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &OTLP{address.String(), header, client, s, firstPause}
}

// FindEndpoint reads the standard variables of OTLP. It returns the address and the headers for
// logs. The address is nil if no variable contains an address.
func FindEndpoint(getenv func(string) string) (*url.URL, http.Header, error) {
	header, err := ReadHeaders(getenv)
	if err != nil {
		return nil, nil, err
	}
	if whole := getenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"); whole != "" {
		u, err := parseAddress(whole)
		if err != nil {
			return nil, nil, fmt.Errorf("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: %w", err)
		}
		return u, header, nil
	}
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); base != "" {
		u, err := ParseEndpoint(base)
		if err != nil {
			return nil, nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
		}
		return u, header, nil
	}
	return nil, header, nil
}

// ParseEndpoint returns the address for logs at an endpoint. If the endpoint does not end with
// /v1/logs, ParseEndpoint appends it.
func ParseEndpoint(text string) (*url.URL, error) {
	u, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, "/v1/logs") {
		u = u.JoinPath("v1", "logs")
	}
	return u, nil
}

func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("it is no address like https://HOST:4318")
	}
	return u, nil
}

// ReadHeaders reads the headers in the standard variables of OTLP. They have the form NAME=VALUE,
// are separated by commas, and their values are escaped as in URLs.
func ReadHeaders(getenv func(string) string) (http.Header, error) {
	const variable = "OTEL_EXPORTER_OTLP_HEADERS"
	header := http.Header{}
	for pair := range strings.SplitSeq(cmp.Or(getenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS"), getenv(variable)), ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n\x00") || strings.ContainsAny(name, " :") {
			return nil, fmt.Errorf("%s is no list like NAME=VALUE,NAME=VALUE", variable)
		}
		header.Add(name, value)
	}
	return header, nil
}

// Deliver implements Sink with one request. It sends the request again while the receiver is busy
// or not reachable.
func (o *OTLP) Deliver(ctx context.Context, entries []*event.Entry) error {
	body := export.AppendOTLPBatch(nil, entries, o.source)
	return retry(ctx, o.pause, func() (time.Duration, error) { return o.post(ctx, body) })
}

func (o *OTLP) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		return 0, lasting{err}
	}
	for name, values := range o.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := o.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*egress.Error](err); ok && failed.Lasting {
			return 0, lasting{err}
		}
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // the error does not matter, because the body was only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	switch resp.StatusCode {
	case http.StatusOK:
		if err != nil {
			return 0, err
		}
		if egress.IsWebPage(resp) {
			return 0, lasting{errors.New("a web page answers and not a receiver of OTLP; correct the address in OTEL_EXPORTER_OTLP_ENDPOINT")}
		}
		return 0, readRefusal(text)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout: // OTLP names these codes as temporary
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return min(time.Duration(max(0, seconds))*time.Second, longestWait), answerError(resp, text)
	}
	return 0, lasting{answerError(resp, text)}
}

func answerError(resp *http.Response, text []byte) error {
	return fmt.Errorf("the receiver answers %s: %.300q", resp.Status, text)
}

// readRefusal returns an error if the answer tells that the receiver has refused records.
func readRefusal(text []byte) error {
	var answer struct {
		PartialSuccess struct {
			Rejected json.RawMessage `json:"rejectedLogRecords"` // a number, or a text, because OTLP/JSON writes 64-bit numbers as texts
			Message  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if len(bytes.TrimSpace(text)) == 0 || json.Unmarshal(text, &answer) != nil {
		return nil // some receivers do not answer in JSON; the HTTP status already shows that they have taken all records
	}
	many, _ := strconv.Atoi(strings.Trim(string(answer.PartialSuccess.Rejected), `"`))
	if many <= 0 {
		return nil
	}
	return lasting{&Refused{many, fmt.Sprintf("%.300s", answer.PartialSuccess.Message)}}
}

// Close implements Sink.
func (o *OTLP) Close() error {
	o.client.CloseIdleConnections()
	return nil
}
