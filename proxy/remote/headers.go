package remote

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ownHeaders are the headers that this package or HTTP itself sets. wrap/client refuses the same
// names.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
	headerEvent, headerMethod, headerName, headerVersion, headerSession, "Transfer-Encoding", "Upgrade", "Te", "Trailer",
}

// Prefixes of environment variables that hold the headers of a client's configuration. Environment
// variables are used because every process of the machine can read a command line.
const (
	envHeader = "CLAWAI_HEADER_"     // CLAWAI_HEADER_1="Name: value"
	envFilled = "CLAWAI_HEADER_ENV_" // CLAWAI_HEADER_ENV_1="Name: ${VARIABLE}"
)

// EnvHeaders returns the headers in the variables of environ. It sorts environ in place. An error
// contains the name of the variable, but never a value. It skips Accept and Content-Type, because
// these are for the client's own transport.
func EnvHeaders(environ []string, getenv func(name string) (string, bool)) (http.Header, error) {
	h := http.Header{}
	slices.Sort(environ)
	for _, v := range environ {
		name, line, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, envHeader) {
			continue
		}
		if strings.ContainsAny(line, "\r\n") {
			return nil, fmt.Errorf("%s holds more than one line", name)
		}
		header, _, _ := strings.Cut(line, ":")
		if strings.EqualFold(header, "Accept") || strings.EqualFold(header, "Content-Type") {
			continue
		}
		fill := func(string) (string, bool) { return "", false }
		if strings.HasPrefix(name, envFilled) {
			fill = getenv
		}
		one, err := ParseHeaders(line, fill)
		if err != nil {
			return nil, fmt.Errorf("the header in %s: %w", name, err)
		}
		for key, values := range one {
			h[key] = append(h[key], values...)
		}
	}
	return h, nil
}

// ParseHeaders parses lines of the form "Name: value". It skips empty lines and lines that begin
// with #. It replaces ${NAME} in a value by getenv's value for NAME. An unknown NAME is an error.
// An error contains the line number, but never a value.
func ParseHeaders(src string, getenv func(name string) (string, bool)) (http.Header, error) {
	h := make(http.Header)
	n := 0
	for line := range strings.Lines(src) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := addHeader(h, line, getenv); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return h, nil
}

func addHeader(h http.Header, line string, getenv func(string) (string, bool)) error {
	name, value, colon := strings.Cut(line, ":")
	if !colon || !IsHeaderName(name) {
		return fmt.Errorf("a header is written as Name: value")
	}
	name = http.CanonicalHeaderKey(name)
	if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, headerParam) {
		return fmt.Errorf("%s is set by clawai itself", name)
	}
	value, err := expandVariables(strings.TrimSpace(value), getenv)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("%s: the value holds a control character", name)
	}
	h.Add(name, value)
	return nil
}

// expandVariables replaces each ${NAME} by its value. It knows no other syntax.
func expandVariables(value string, getenv func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(value, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("a ${ has no }")
		}
		known, ok := getenv(name)
		if !ok {
			return "", fmt.Errorf("the environment has no %.60q", name)
		}
		b.WriteString(known)
		value = after
	}
}
