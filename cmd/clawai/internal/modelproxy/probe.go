// Package modelproxy checks whether "clawai llm-proxy --wrapped" runs. "clawai status" sends a
// question to the address of the proxy, and the proxy answers.
package modelproxy

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/wrap"
)

// probePath is the start of the question's path. A random text follows. The answer proves that the
// program at this address knows the secret, but neither the question nor the answer contains the
// secret.
const probePath = "/clawai-llm-proxy-probe/"

// AnswerProbe answers the question whether the proxy runs. It returns false if the request is not
// that question.
func AnswerProbe(w http.ResponseWriter, r *http.Request, secret, judge string) bool {
	asked, is := strings.CutPrefix(r.URL.Path, probePath)
	if !is {
		return false
	}
	fmt.Fprint(w, signText(secret, asked, judge), " ", judge)
	return true
}

func signText(secret, asked, judge string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(asked + " " + judge))
	return hex.EncodeToString(h.Sum(nil))
}

// SameText reports whether two texts are the same. Its duration does not depend on the place where
// they differ. If b is empty, it returns false.
func SameText(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// ErrStranger means that another program listens at the proxy's address. That program gets the
// clients' requests.
var ErrStranger = errors.New("another program answers there, and gets what your clients send, keys too")

// Probe asks whether the proxy runs. It returns the proxy's value of --judge.
func Probe(ctx context.Context, routes *wrap.ModelRoutes) (judge string, err error) {
	asked := rand.Text()
	answer, err := askPlainly(ctx, routes.Listen, probePath+asked)
	if err != nil {
		return "", errors.New("nothing answers there")
	}
	signed, judge, _ := strings.Cut(answer, " ")
	if !SameText(signed, signText(routes.Secret, asked, judge)) {
		return "", ErrStranger
	}
	return judge, nil
}

// askPlainly requests a path from a server on this machine. It connects directly, without an HTTP
// proxy.
func askPlainly(ctx context.Context, address, path string) (string, error) {
	const patience = 2 * time.Second
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", path, address); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, 4<<10)), nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
