package page

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve answers requests until ctx ends. Then it waits up to two seconds for running requests, closes
// l, and returns nil. It returns an error if the server stops for another reason.
func Serve(ctx context.Context, s *http.Server, l net.Listener) error {
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
