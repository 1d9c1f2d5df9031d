package page_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/page"
)

// TestServeAwaitsHandlers: a handler that has still to record something when its connection is cut ends before
// Serve, because the caller of Serve closes the record after that.
func TestServeAwaitsHandlers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	begun, returned, late := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		select { // a Serve that does not wait returns in this time
		case <-returned:
			late <- true
		case <-time.After(500 * time.Millisecond):
			late <- false
		}
	})
	go func() {
		defer close(returned)
		if err := page.Serve(ctx, &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}, l); err != nil {
			t.Error(err)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-begun
	end()
	<-returned
	select {
	case after := <-late:
		if after {
			t.Error("Serve has returned while a handler ran")
		}
	default:
		t.Error("Serve has returned before a handler ended")
	}
}
