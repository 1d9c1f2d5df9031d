package remote

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// AnswerType returns the media type of an answer, like ContentType. But it accepts more, because
// servers send more: any parameters, and a compression that was not requested. JSON and event
// streams are always UTF-8, even if the header states another charset (RFC 8259 section 8.1). The
// parser of frames detects another charset. AnswerType replaces resp.Body by the decoded body.
func AnswerType(resp *http.Response) (string, error) {
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	if open := decoders[encoding]; open != nil {
		resp.Body, resp.ContentLength = &decodedBody{body: resp.Body, open: open, name: encoding}, -1
		resp.Header = resp.Header.Clone()
		resp.Header.Del("Content-Encoding")
	} else if !slices.Contains(noEncoding, encoding) {
		return "", fmt.Errorf("the server's answer is encoded (%.100q), which was not asked for", encoding)
	}
	what, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return messageType(resp.Header, strings.ToLower(strings.TrimSpace(what)))
}

// noEncoding lists the header values with which servers mean that there is no encoding.
var noEncoding = []string{"", "identity", "none", "utf-8"}

var decoders = map[string]func(io.Reader) (io.Reader, error){"gzip": openGzip, "x-gzip": openGzip, "deflate": openDeflate}

func openGzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate decodes "deflate": zlib data, or raw deflate data, which some servers send.
func openDeflate(r io.Reader) (io.Reader, error) {
	const zlibMethod = 8 // the value of the low four bits of the first byte of zlib data
	b := bufio.NewReader(r)
	if first, err := b.Peek(1); err == nil && first[0]&15 != zlibMethod {
		return flate.NewReader(b), nil
	}
	return zlib.NewReader(b)
}

// decodedBody is a body without its encoding. The code that reads it must limit the decoded size.
type decodedBody struct {
	body io.ReadCloser
	open func(io.Reader) (io.Reader, error)
	name string
	in   io.Reader // the decoder; nil before the first Read
}

func (d *decodedBody) Read(p []byte) (n int, err error) {
	if d.in == nil {
		if d.in, err = d.open(d.body); err != nil {
			return 0, fmt.Errorf("the server's answer is not the %s that it says it is: %w", d.name, err)
		}
	}
	return d.in.Read(p)
}

func (d *decodedBody) Close() error { return d.body.Close() }
