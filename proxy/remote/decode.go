package remote

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// AnswerType is ContentType of an answer, which is taken as servers send it: its charset by
// another name of UTF-8 or of a part of it, and gzip although it was not asked for. The body
// is what it decodes to afterwards.
func AnswerType(resp *http.Response) (string, error) {
	h := resp.Header.Clone()
	if encoding := strings.ToLower(h.Get("Content-Encoding")); encoding == "gzip" || encoding == "x-gzip" {
		h.Del("Content-Encoding")
		resp.Body, resp.ContentLength = &unzipped{body: resp.Body}, -1
		resp.Header = h
	}
	what, charset, err := mediaType(h)
	if err == nil && !slices.Contains(plainCharsets, strings.ToLower(charset)) {
		err = fmt.Errorf("the server's answer is not in UTF-8 (%.100q)", charset)
	}
	if err != nil {
		return "", err
	}
	return what, nil
}

// plainCharsets write ASCII as UTF-8 does. JSON has no charset but UTF-8, whatever a header
// says (RFC 8259 section 8.1): a byte of another one is found when the frame is read.
var plainCharsets = []string{"", "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"}

// unzipped is a body without its gzip. Whoever reads it bounds what comes out.
type unzipped struct {
	body io.ReadCloser
	in   *gzip.Reader
}

func (z *unzipped) Read(p []byte) (n int, err error) {
	if z.in == nil {
		if z.in, err = gzip.NewReader(z.body); err != nil {
			return 0, fmt.Errorf("the server's answer is not the gzip that it says it is: %w", err)
		}
	}
	return z.in.Read(p)
}

func (z *unzipped) Close() error { return z.body.Close() }
