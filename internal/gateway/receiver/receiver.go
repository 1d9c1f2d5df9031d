// Package receiver reads from the environment where a centre sends figures, logs and spans by OTLP, and
// keeps addresses and headers of OpenTelemetry's variables, which may hold secrets, out of what is reported.
package receiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || !slices.ContainsFunc(choice, func(word string) bool { return strings.EqualFold(strings.TrimSpace(word), "otlp") }) {
		return false, nil
	}
	name, address := findVariable(getenv, s, "ENDPOINT")
	if address == "" {
		return false, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isPort(u.Port()) || strings.ContainsRune(address, ' '):
		return false, fmt.Errorf("%s: it is an address like https://HOST:4318", name)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return false, fmt.Errorf("%s: OpenTelemetry's exporter does not send a user, a password or a query of an address; write a password into OTEL_EXPORTER_OTLP_HEADERS", name)
	}
	// The exporters would send without TLS to an address with https:// if this variable says so.
	if name, insecure := findVariable(getenv, s, "INSECURE"); insecure != "" && strings.EqualFold(insecure, "true") != (u.Scheme == "http") {
		return false, fmt.Errorf("%s: http:// or https:// of the address decides whether TLS is used; leave the variable out", name)
	}
	if name, protocol := findVariable(getenv, s, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s: the centre sends http/protobuf alone; leave the variable out, and name the receiver's port for HTTP, which is often 4318", name)
	}
	return true, nil
}

// isPort reports whether a text is a port, or nothing.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// findVariable returns the variable that holds for a signal: its own, or the one of all signals.
func findVariable(getenv func(string) string, s Signal, what string) (name, value string) {
	own, all := "OTEL_EXPORTER_OTLP_"+string(s)+"_"+what, "OTEL_EXPORTER_OTLP_"+what
	if value := getenv(own); value != "" {
		return own, value
	}
	return all, getenv(all)
}

// NewResource returns what OpenTelemetry is told of this program. The SDK keeps a value with a wrong escape as it is
// and only reports that.
func NewResource(ctx context.Context, getenv func(string) string, version string) (*resource.Resource, error) {
	_, wrong := url.PathUnescape(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "clawai-gateway"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil || wrong != nil {
		return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES: it has the form NAME=VALUE,NAME=VALUE, with %25 for % in a value")
	}
	for _, a := range about.Attributes() { // OTLP cannot hold other texts, so that nothing at all would be sent
		if !utf8.ValidString(string(a.Key)) || !utf8.ValidString(a.Value.String()) {
			return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES or OTEL_SERVICE_NAME: it has bytes that are no text in UTF-8")
		}
	}
	return about, nil
}

// samplers are the values of OTEL_TRACES_SAMPLER that the SDK knows.
var samplers = []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}

// CheckSampler returns an error if the SDK would send every span because it cannot read which ones the owner wants.
func CheckSampler(getenv func(string) string) error {
	name := strings.ToLower(strings.TrimSpace(getenv("OTEL_TRACES_SAMPLER")))
	if !slices.Contains(samplers, name) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER: it is one of%s", strings.Join(samplers, " "))
	}
	part, err := strconv.ParseFloat(cmp.Or(strings.TrimSpace(getenv("OTEL_TRACES_SAMPLER_ARG")), "1"), 64)
	if strings.HasSuffix(name, "ratio") && (err != nil || !(part >= 0 && part <= 1)) {
		return errors.New("OTEL_TRACES_SAMPLER_ARG: it is a number from 0 to 1, such as 0.1")
	}
	return nil
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

// Describe returns an error of an exporter as harmless text without the receiver's address, whose path may hold
// a token, and without headers, which receivers like to repeat in their answers.
func Describe(err error) string {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err // without the address
	}
	text := address.ReplaceAllString(err.Error(), "the receiver")
	for _, secret := range listSecrets(os.Environ()) {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return term.CutText(term.VisibleText(strings.ReplaceAll(text, "\n", "; ")), maxDescription)
}

// minSecret is the length from which a word of a header is hidden: shorter ones stand in ordinary texts, too.
const minSecret = 4

// listSecrets returns the values of headers, their words, and the paths of addresses that the variables have, the
// longest first.
func listSecrets(environ []string) (all []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") {
			continue
		}
		switch {
		case strings.HasSuffix(name, "HEADERS"):
			for pair := range strings.SplitSeq(value, ",") {
				_, escaped, _ := strings.Cut(pair, "=")
				plain, err := url.PathUnescape(escaped)
				if err != nil {
					plain = escaped
				}
				all = append(append(all, escaped, strings.TrimSpace(plain)), strings.Fields(plain)...)
			}
		case strings.HasSuffix(name, "ENDPOINT"):
			if u, err := url.Parse(value); err == nil {
				all = append(all, strings.Trim(u.Path, "/"), strings.Trim(u.EscapedPath(), "/"))
			}
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// IsUnreached reports whether an error means that no answer came, or that of a busy receiver, so that the same data
// may be sent again.
func IsUnreached(err error) bool {
	if answer, ok := errors.AsType[*AnswerError](err); ok {
		return answer.IsBusy
	}
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
