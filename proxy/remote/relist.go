package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

const (
	headerMismatch = -32020 // error code of MCP 2026-07-28 basic/transports/streamable-http
	maxPages       = 64
)

// refreshTools fetches the tool list when the server reports that argument headers are missing.
// This happens when the client has not listed the tools, or listed them long ago. It reports
// whether the call should be sent again.
func (u *Upstream) refreshTools(rt *roundTrip, resp *http.Response) bool {
	if resp.StatusCode != http.StatusBadRequest || !rt.era.modern || rt.frame.Method != "tools/call" {
		return false
	}
	body, err := ReadBody(resp, u.o.Limits.MaxBytes)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || gjson.GetBytes(body, "error.code").Int() != headerMismatch {
		return false
	}
	if err := u.listTools(rt); err != nil {
		u.o.Note("tools_not_listed", "the server wants headers that repeat arguments, and does not say which: "+err.Error())
		return false
	}
	return len(u.headerBindings(&rt.frame)) > 0
}

// listTools fetches the tools page by page, with the _meta of rt. ackTimeout limits the time for
// all pages together.
func (u *Upstream) listTools(rt *roundTrip) error {
	ctx, cancel := context.WithTimeout(rt.ctx, ackTimeout)
	defer cancel()
	cursor := ""
	for range maxPages {
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"clawai-tools","method":"tools/list","params":{"_meta":{%s}%s}}`, protocolMeta(rt.frame.Params), cursor)
		f, err := frame.Parse(line, u.o.Limits)
		if err != nil {
			return err
		}
		page := newRoundTrip(ctx, f)
		_, result, err := u.postOwn(page)
		page.cancel()
		if err != nil {
			return err
		}
		u.tools.learnResult(result)
		next := gjson.GetBytes(result, "nextCursor")
		if next.Type != gjson.String {
			return nil
		}
		cursor = `,"cursor":` + next.Raw
	}
	return fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// protocolMeta returns the members of a request's _meta that the protocol needs: the version, and
// the client's capabilities and description.
func protocolMeta(params []byte) []byte {
	var b []byte
	gjson.GetBytes(params, "_meta").ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case mcp.MetaPrefix + "protocolVersion", mcp.MetaPrefix + "clientCapabilities", mcp.MetaPrefix + "clientInfo":
			if len(b) > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, key.Raw...), ':'), v.Raw...)
		}
		return true
	})
	return b
}
