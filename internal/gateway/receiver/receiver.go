// Package receiver reads from the environment where a centre sends figures, logs and spans by OTLP, and
// keeps addresses and headers of OpenTelemetry's variables, which may hold secrets, out of what is reported.
package receiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/clawai/clawai/internal/text/term"
)

// Signal is one of the kinds of data of OpenTelemetry, as its variables write it.
type Signal string

// The signals.
const (
	Metrics Signal = "METRICS"
	Logs    Signal = "LOGS"
	Traces  Signal = "TRACES"
)

// IsWanted reports whether the environment names a receiver for a signal. It returns an error for an address
// or a protocol that the exporters cannot use: they would take their defaults instead, which the owner did
// not choose. The error has no values, because an address can hold a password.
func IsWanted(getenv func(string) string, s Signal) (bool, error) {
	choice := strings.Split(cmp.Or(getenv("OTEL_"+string(s)+"_EXPORTER"), "otlp"), ",")
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || !slices.ContainsFunc(choice, func(word string) bool { return strings.TrimSpace(word) == "otlp" }) {
		return false, nil
	}
	name, address := findVariable(getenv, s, "ENDPOINT")
	if address == "" {
		return false, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return false, fmt.Errorf("%s: it is an address like https://HOST:4318", name)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return false, fmt.Errorf("%s: OpenTelemetry's exporter does not send a user, a password or a query of an address; write a password into OTEL_EXPORTER_OTLP_HEADERS", name)
	}
	if name, protocol := findVariable(getenv, s, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s: the centre sends http/protobuf alone; leave the variable out, and name the receiver's port for HTTP, which is often 4318", name)
	}
	return true, nil
}

// findVariable returns the variable that holds for a signal: its own, or the one of all signals.
func findVariable(getenv func(string) string, s Signal, what string) (name, value string) {
	own, all := "OTEL_EXPORTER_OTLP_"+string(s)+"_"+what, "OTEL_EXPORTER_OTLP_"+what
	if value := getenv(own); value != "" {
		return own, value
	}
	return all, getenv(all)
}

// NewResource returns what OpenTelemetry is told of this program.
func NewResource(ctx context.Context, version string) (*resource.Resource, error) {
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "clawai-gateway"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES: it has the form NAME=VALUE,NAME=VALUE")
	}
	return about, nil
}

// SetReport lets report be told of the faults that OpenTelemetry's SDK finds by itself.
func SetReport(report func(error)) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if name := variable.FindString(err.Error()); name != "" {
			report(fmt.Errorf("OpenTelemetry cannot use %s as it is", name)) // without its value
			return
		}
		report(errors.New("OpenTelemetry: " + Describe(err)))
	}))
	otel.SetLogger(logr.New(sink{report}))
}

// variable matches the name of a variable of OpenTelemetry.
var variable = regexp.MustCompile(`OTEL_[A-Z_]+`)

// sink takes what the SDK would write to the standard error: the message of an error, without its values, which
// may be addresses and headers.
type sink struct{ report func(error) }

// Init implements logr.LogSink.
func (sink) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (sink) Enabled(int) bool { return false }

// Info implements logr.LogSink.
func (sink) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (s sink) Error(_ error, message string, _ ...any) {
	s.report(fmt.Errorf("OpenTelemetry cannot use one of its variables: %s", message))
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(...any) logr.LogSink { return s }

// WithName implements logr.LogSink.
func (s sink) WithName(string) logr.LogSink { return s }

// address matches an address in a text of the exporters.
var address = regexp.MustCompile(`(?i)\bhttps?://\S+`)

// maxDescription is the maximum length of a description.
const maxDescription = 300

// Describe returns an error of an exporter as harmless text without the receiver's address: its path may hold
// a token.
func Describe(err error) string {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err // without the address
	}
	return term.CutText(term.VisibleText(address.ReplaceAllString(err.Error(), "the receiver")), maxDescription)
}

// IsUnreached reports whether an error means that no answer came, so that the same data may be sent again.
func IsUnreached(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok || errors.Is(err, context.DeadlineExceeded)
}

// rejected matches the error of the exporters for an answer that has taken only a part.
var rejected = regexp.MustCompile(`(?s)\bOTLP partial success: .*\((\d+) [a-z ]+ rejected\)`)

// CountRejected returns how many items a receiver did not take of a request that it answered as taken; false if
// the error says something else.
func CountRejected(err error) (n int, ok bool) {
	found := rejected.FindStringSubmatch(err.Error())
	if found == nil {
		return 0, false
	}
	n, numberErr := strconv.Atoi(found[1])
	return n, numberErr == nil
}
