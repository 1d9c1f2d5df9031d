//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// submit sends a form as a browser would, and returns the next page. values are pairs of a name and
// a value.
func (c *centre) submit(ctx context.Context, path string, values ...string) ([]byte, error) {
	form := url.Values{}
	for pair := range slices.Chunk(values, 2) {
		form.Set(pair[0], pair[1])
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", c.address)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Dest", "document")
	return c.load(r)
}

// visit requests a page as a browser would, and returns the page.
func (c *centre) visit(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Sec-Fetch-Site", "none")
	r.Header.Set("Sec-Fetch-Dest", "document")
	return c.load(r)
}

func (c *centre) load(r *http.Request) ([]byte, error) {
	resp, err := c.browser.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s\n%s", r.Method, r.URL.Path, resp.Status, body)
	}
	return body, err
}
