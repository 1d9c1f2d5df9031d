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

// Serve answers requests until ctx ends, and returns when no request is under way, at most two
// seconds later. It returns nil if ctx ended it. It closes l.
func Serve(ctx context.Context, s *http.Server, l net.Listener) error {
	s.ErrorLog = log.New(io.Discard, "", 0) // it would print strangers' text on the terminal
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
