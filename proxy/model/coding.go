package model

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"

	"github.com/clawai/clawai/internal/wire/modelapi"
)

// codings are the content codings (RFC 9110, 8.4.1) that clawai can decode. A decoder's output may
// have any length, so the caller must limit it.
var codings = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"zstd":    newZstd,
}

func isPlain(coding string) bool { return coding == "" || strings.EqualFold(coding, "identity") }

// decodeBody returns a reader of the decoded body. coding is the value of Content-Encoding.
func decodeBody(body io.Reader, coding string) (io.Reader, error) {
	if isPlain(coding) {
		return body, nil
	}
	if open := codings[strings.ToLower(strings.TrimSpace(coding))]; open != nil {
		return open(body)
	}
	return nil, errors.New("it is in the encoding " + shortenText(coding))
}

// decodeWhole returns the decoded body. It returns an error if the result is longer than
// modelapi.MaxText.
func decodeWhole(body []byte, coding string) ([]byte, error) {
	if isPlain(coding) {
		return body, nil
	}
	rest := bytes.NewReader(body)
	from, err := decodeBody(rest, coding)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(from, modelapi.MaxText+1))
	if err == nil && len(text) > modelapi.MaxText {
		err = errors.New("it is too long when decoded")
	}
	if err == nil && rest.Len() > 0 {
		err = errors.New("there is more behind its end")
	}
	return text, err
}
