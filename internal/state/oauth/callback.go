package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const callbackPath = "/callback"

// callback is the data that the browser brings back: the code, and the issuer or "".
type callback struct{ code, issuer string }

// authorize sends the owner's browser to page, and waits until the browser comes back with a code.
// It comes back to back, a loopback listener that exists only for this sign-in (RFC 8252, section
// 7.3).
func (c *Client) authorize(ctx context.Context, page string, back net.Listener) (callback, error) {
	asked, err := url.Parse(page)
	if err != nil {
		return callback{}, err
	}
	came := make(chan callback, 1)
	refused := make(chan error, 1)
	server := &http.Server{
		Handler:           callbackHandler(back.Addr().String(), asked.Query().Get("state"), came, refused),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(back)
	}()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(end)
		_ = server.Close()
		<-served
	}()
	if err := c.o.Browse(ctx, page); err != nil {
		return callback{}, fmt.Errorf("open the sign-in page: %w", err)
	}
	select {
	case result := <-came:
		return result, nil
	case err := <-refused:
		return callback{}, err
	case <-ctx.Done():
		return callback{}, errors.New("nobody signed in in time")
	}
}

// callbackHandler returns the handler of the page to which the browser comes back. Only a request
// with our state ends the wait, because any program on this machine can send requests.
func callbackHandler(host, state string, came chan<- callback, refused chan<- error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		q := r.URL.Query()
		switch {
		case r.Host != host || r.URL.Path != callbackPath || r.Method != http.MethodGet:
			http.NotFound(w, r)
		case state == "" || q.Get("state") != state:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintln(w, "This is not the sign-in that clawai waits for. Close this page and try again.")
		case q.Get("error") != "":
			fmt.Fprintln(w, "The sign-in was refused. Close this page; clawai says more.")
			select {
			case refused <- fmt.Errorf("the server refused: %s", errorCode(q.Get("error"), "no reason")):
			default:
			}
		default:
			fmt.Fprintln(w, "Signed in. Close this page and go back to your work.")
			select {
			case came <- callback{q.Get("code"), q.Get("iss")}:
			default:
			}
		}
	})
}
