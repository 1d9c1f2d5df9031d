package site

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/text/term"
)

// readyTime is the maximum time for the database to answer /readyz.
const readyTime = 2 * time.Second

// Ready is the text of the answer of /readyz while the database answers.
const Ready = "ready"

// ServeOperator answers an operator's requests until ctx ends. /healthz shows whether the program runs. /readyz shows
// whether its database answers and whether this centre may serve (store.Store.CheckReady). /metrics shows its figures.
// ServeOperator closes l.
func ServeOperator(ctx context.Context, c *centre.Centre, l net.Listener) error {
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text+"\n")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		_, err := c.NewestCounter(ctx)
		if err == nil {
			err = c.Store.CheckReady(ctx, c.Now)
		}
		if err != nil {
			say(w, http.StatusServiceUnavailable, "not ready: the database: "+term.VisibleText(err.Error()))
			return
		}
		say(w, http.StatusOK, Ready)
	})
	if c.Figures != nil {
		mux.Handle("GET /metrics", c.Figures)
	}
	return page.Serve(ctx, &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader}, l)
}
