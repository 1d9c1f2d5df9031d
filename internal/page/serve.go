package page

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers requests until ctx ends. Then it waits up to two seconds for running requests, cuts the
// connections of the others, and closes l. It returns nil after the handler of every request has returned,
// so that a caller can close what the handlers use. It returns an error if the server stops for another
// reason.
func Serve(ctx context.Context, s *http.Server, l net.Listener) error {
	var running sync.RWMutex // locked for reading by each handler that runs
	defer running.Lock()
	s.Handler = holdWhileServing(&running, s.Handler)
	s.ErrorLog = log.New(io.Discard, "", 0) // otherwise the server would print text of strangers to the terminal
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if s.Shutdown(wait) != nil {
		_ = s.Close()
	}
	if err == nil {
		err = <-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// holdWhileServing returns a handler that holds running while it runs. When Serve waits for running, the
// handler drops each further request, because its connection is cut already.
func holdWhileServing(running *sync.RWMutex, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !running.TryRLock() {
			panic(http.ErrAbortHandler)
		}
		defer running.RUnlock()
		next.ServeHTTP(w, r)
	})
}
