package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/clawai/clawai/internal/page"
)

//go:embed assets
var files embed.FS

// asset is one embedded file, with its content type and the value of Sec-Fetch-Dest in a browser's
// request for it.
type asset struct {
	body       []byte
	packed     []byte // body compressed with gzip; nil for the page, which differs at each request
	kind, dest string
}

// loadAssets returns the embedded files by their URL paths. The page has the path /.
func loadAssets() (map[string]asset, error) {
	list, err := files.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	assets := map[string]asset{
		"/page.css": {body: page.Style, packed: pack(page.Style), kind: "text/css; charset=utf-8", dest: "style"},
		"/icon.svg": {body: page.Icon, packed: pack(page.Icon), kind: "image/svg+xml", dest: "image"},
	}
	for _, f := range list {
		body, err := files.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, err
		}
		a := asset{body: body}
		switch path.Ext(f.Name()) {
		case ".html":
			a.kind, a.dest = "text/html; charset=utf-8", "document"
		case ".js":
			a.kind, a.dest = "text/javascript; charset=utf-8", "script"
			a.body = dropComments(body)
		default:
			return nil, fmt.Errorf("embedded file %q is of no known kind", f.Name())
		}
		if a.dest != "document" {
			a.packed = pack(a.body)
		}
		assets["/"+strings.TrimSuffix(f.Name(), "page.html")] = a
	}
	return assets, nil
}

// dropComments removes the lines of a script that are only a comment, because browsers do not need
// them.
func dropComments(script []byte) (short []byte) {
	for line := range bytes.Lines(script) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("//")) {
			short = append(short, line...)
		}
	}
	return short
}

// pack returns a text compressed with gzip. The text is no secret, so a stranger who sees the
// length learns nothing.
func pack(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(text) // the errors are ignored, because a write to a buffer cannot fail
	_ = z.Close()
	return b.Bytes()
}

// acceptsGzip reports whether the browser accepts a body in gzip.
func acceptsGzip(r *http.Request) bool {
	for kind := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(kind) == "gzip" {
			return true
		}
	}
	return false
}

func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request, _ *session) error {
	a := s.assets[r.URL.Path]
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Vary", "Accept-Encoding")
	body := a.body
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = a.packed
	}
	_, err := w.Write(body)
	return err
}

// servePage sends the page. The page is the same for everybody and contains no question. A browser
// with the key gets the questions later.
func (s *Server) servePage(w http.ResponseWriter, _ *http.Request, _ *session) error {
	a := s.assets["/"]
	nonce, _ := newSecret()
	w.Header().Set("Content-Security-Policy", policyOf(nonce))
	w.Header().Set("Content-Type", a.kind)
	_, err := w.Write(bytes.ReplaceAll(a.body, []byte("NONCE"), []byte(nonce)))
	return err
}
