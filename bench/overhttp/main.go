// Command overhttp provides the HTTP programs of the benchmark driver:
//
//	overhttp serve           a server that answers each call, by JSON or by an event
//	overhttp relay URL       the standard library's reverse proxy in front of it
//	overhttp call URL TYPE N makes calls one at a time and prints the median in microseconds
//
// The first two print their loopback address.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go"}}}`
	answer  = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"xxxxxxxxxxxxxxxx"}]}}`
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "overhttp: %v\n", err)
		os.Exit(1) //nolint:forbidigo // main may exit
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return listen(http.HandlerFunc(serve))
	case len(args) == 2 && args[0] == "relay":
		return relay(args[1])
	case len(args) == 4 && args[0] == "call":
		n, err := strconv.Atoi(args[3])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of calls", args[3])
		}
		return measure(args[1], args[2], n)
	}
	return fmt.Errorf("what is %q? serve, relay URL, or call URL TYPE N", args)
}

// serve answers with JSON or with an event, whichever the request accepts. It sends the event at
// once and does not wait until the stream ends.
func serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", r.Header.Get("Accept"))
	if r.Header.Get("Accept") == "application/json" {
		_, _ = io.WriteString(w, answer)
		return
	}
	_, _ = io.WriteString(w, "data: "+answer+"\n\n")
	_ = http.NewResponseController(w).Flush()
}

// relay runs the library's reverse proxy, but reads each request completely first. Without this, a
// fast server answers before the proxy has read the body; the proxy then closes the body, and the
// connection is lost.
func relay(server string) error {
	to, err := url.Parse(server)
	if err != nil {
		return err
	}
	library := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	return listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		library.ServeHTTP(w, r)
	}))
}

func listen(h http.Handler) error {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "http://%s\n", in.Addr())
	return (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(in)
}

// measure makes n calls and prints their median. Before that, it makes n/10 calls that open the
// connections. The median does not include them.
func measure(to, accept string, n int) error {
	took := make([]time.Duration, 0, n)
	for i := range n + n/10 {
		began := time.Now()
		if err := call(to, accept); err != nil {
			return err
		}
		if i >= n/10 {
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	fmt.Fprintf(os.Stdout, "%.1f\n", float64(took[len(took)/2])/1e3)
	return nil
}

// call makes one call and checks that the answer comes from the server.
func call(to, accept string) error {
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(request))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err == nil && !strings.Contains(string(body), answer) {
		err = fmt.Errorf("%s: %s %q", to, resp.Status, body)
	}
	return err
}
