package web

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var files embed.FS

// asset is one embedded file, with its content type and the way a browser requests it.
type asset struct {
	body       []byte
	kind, dest string
}

// loadAssets returns the files by their URL paths; the page has the path /.
func loadAssets() (map[string]asset, error) {
	list, err := files.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	assets := map[string]asset{}
	for _, f := range list {
		body, err := files.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, err
		}
		a := asset{body: body}
		switch path.Ext(f.Name()) {
		case ".html":
			a.kind, a.dest = "text/html; charset=utf-8", "document"
		case ".css":
			a.kind, a.dest = "text/css; charset=utf-8", "style"
		case ".js":
			a.kind, a.dest = "text/javascript; charset=utf-8", "script"
		case ".svg":
			a.kind, a.dest = "image/svg+xml", "image"
		default:
			return nil, fmt.Errorf("embedded file %q is of no known kind", f.Name())
		}
		assets["/"+strings.TrimSuffix(f.Name(), "page.html")] = a
	}
	return assets, nil
}

func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request, _ *session) error {
	a := s.assets[r.URL.Path]
	w.Header().Set("Content-Type", a.kind)
	_, err := w.Write(a.body)
	return err
}

// servePage sends the page, which is the same for everybody: the content comes later, only to a
// browser with the key.
func (s *Server) servePage(w http.ResponseWriter, _ *http.Request, _ *session) error {
	a := s.assets["/"]
	nonce, _ := newSecret()
	w.Header().Set("Content-Security-Policy", policyOf(nonce))
	w.Header().Set("Content-Type", a.kind)
	_, err := w.Write(bytes.ReplaceAll(a.body, []byte("NONCE"), []byte(nonce)))
	return err
}
