// Package receiver reads from environment variables where a centre sends figures, logs and spans by OTLP. It
// removes from reports the addresses and headers in OpenTelemetry's variables, because they may be secrets.
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

// Signal is a kind of data of OpenTelemetry, spelled as in the names of its variables.
type Signal string

// The signals.
const (
	Metrics Signal = "METRICS"
	Logs    Signal = "LOGS"
	Traces  Signal = "TRACES"
)

// IsWanted reports whether the environment names a receiver for a signal. It returns an error for an address
// or a protocol that the exporters cannot use, because they would use their defaults instead. The error
// contains no values of variables, because an address can contain a password.
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
	// If this variable is true, the exporters would send without TLS even to an address with https://.
	if name, insecure := findVariable(getenv, s, "INSECURE"); insecure != "" && strings.EqualFold(insecure, "true") != (u.Scheme == "http") {
		return false, fmt.Errorf("%s: http:// or https:// of the address decides whether TLS is used; leave the variable out", name)
	}
	if name, protocol := findVariable(getenv, s, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s: the centre sends http/protobuf alone; leave the variable out, and name the receiver's port for HTTP, which is often 4318", name)
	}
	return true, nil
}

// isPort reports whether a text is empty or the number of a port.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// findVariable returns the variable that applies to a signal: the variable of this signal, or if it is not set, the
// variable of all signals.
func findVariable(getenv func(string) string, s Signal, what string) (name, value string) {
	own, all := "OTEL_EXPORTER_OTLP_"+string(s)+"_"+what, "OTEL_EXPORTER_OTLP_"+what
	if value := getenv(own); value != "" {
		return own, value
	}
	return all, getenv(all)
}

// NewResource returns the attributes by which OpenTelemetry knows this program. It returns an error for a wrong
// escape, because the SDK would use the value with the escape and only report the mistake.
func NewResource(ctx context.Context, getenv func(string) string, version string) (*resource.Resource, error) {
	_, wrong := url.PathUnescape(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "clawai-gateway"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil || wrong != nil {
		return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES: it has the form NAME=VALUE,NAME=VALUE, with %25 for % in a value")
	}
	for _, a := range about.Attributes() { // OTLP cannot carry other texts, so the exporters would send nothing at all
		if !utf8.ValidString(string(a.Key)) || !utf8.ValidString(a.Value.String()) {
			return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES or OTEL_SERVICE_NAME: it has bytes that are no text in UTF-8")
		}
	}
	return about, nil
}

// samplers are the values of OTEL_TRACES_SAMPLER that the SDK knows.
var samplers = []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}

// CheckSampler returns an error if the SDK cannot read which spans the owner wants. The SDK would then send all
// spans.
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

// SetReport sets the function that gets the errors which OpenTelemetry's SDK does not return to a caller.
func SetReport(report func(error)) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if name := variable.FindString(err.Error()); name != "" {
			report(fmt.Errorf("OpenTelemetry cannot use %s as it is", name)) // without the value of the variable
			return
		}
		report(errors.New("OpenTelemetry: " + Describe(err)))
	}))
	otel.SetLogger(logr.New(sink{report}))
}

// variable matches the name of a variable of OpenTelemetry.
var variable = regexp.MustCompile(`OTEL_[A-Z_]+`)

// sink gets the errors that the SDK would write to standard error. It reports only the message of an error, and
// not its values, which may be addresses and headers.
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

// Describe returns the text of an exporter's error, made harmless. It removes the receiver's address, whose
// path may contain a token, and the values of headers, because receivers often repeat these in their answers.
func Describe(err error) string {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err // the error inside does not have the address
	}
	text := address.ReplaceAllString(err.Error(), "the receiver")
	for _, secret := range listSecrets(os.Environ()) {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return term.CutText(term.VisibleText(strings.ReplaceAll(text, "\n", "; ")), maxDescription)
}

// minSecret is the minimum length of a secret that Describe hides. Shorter texts also occur in ordinary messages.
const minSecret = 4

// listSecrets returns the secrets in the variables of OTLP, the longest first: the values of headers, each word
// of such a value, and the paths of addresses.
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

// IsUnreached reports whether the same data may be sent again after an error: no answer came, or the receiver was
// busy.
func IsUnreached(err error) bool {
	if answer, ok := errors.AsType[*AnswerError](err); ok {
		return answer.IsBusy
	}
	_, ok := errors.AsType[*url.Error](err)
	return ok || errors.Is(err, context.DeadlineExceeded)
}

// rejected matches the exporters' error if a receiver has taken only a part of a request.
var rejected = regexp.MustCompile(`(?s)\bOTLP partial success: .*\((\d+) [a-z ]+ rejected\)`)

// CountRejected returns the number of items that a receiver has rejected from a request that it accepted
// otherwise. ok is false if the error says something else.
func CountRejected(err error) (n int, ok bool) {
	found := rejected.FindStringSubmatch(err.Error())
	if found == nil {
		return 0, false
	}
	n, numberErr := strconv.Atoi(found[1])
	return n, numberErr == nil
}
