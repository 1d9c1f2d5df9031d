package hub

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// Since MCP 2026-07-28 there is no initialize. Each request states its version and the client's
// capabilities in its _meta (basic, _meta; basic/versioning). The first request of a client decides
// whether the session has this style or the earlier one. A server/discover request does not decide
// this.

// messageVersion returns the version in the _meta of a message, and the _meta. The version is "" if
// the message states none.
func messageVersion(params []byte) (version string, meta jsonscan.Value) {
	meta = jsonscan.ValueOf(params).Member("_meta")
	if v := meta.Member(mcp.MetaPrefix + "protocolVersion"); v.Kind() == jsonscan.String {
		version = v.Text()
	}
	return version, meta
}

// isForServers reports whether servers may get the request. They may if the request has the style
// of the session. The first request of the session decides this style. The hub itself answers or
// refuses the other requests.
func (h *hub) isForServers(f *frame.Frame) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client.params != nil && h.client.meta == nil {
		return true
	}
	version, meta := messageVersion(f.Params)
	if version == "" || versionError(f, version, meta) != nil {
		return false
	}
	if h.client.params == nil && f.Method != "server/discover" {
		h.client.readMeta(meta, h.o.Version)
	}
	return true
}

// readMeta stores the client's description of itself from the _meta of a request.
func (c *client) readMeta(meta jsonscan.Value, hubVersion string) {
	can, info := meta.Member(mcp.MetaPrefix+"clientCapabilities"), meta.Member(mcp.MetaPrefix+"clientInfo")
	c.meta = requestMeta(can, info)
	if info.Kind() != jsonscan.Object {
		info = jsonscan.Value(hubInfo(hubVersion))
	}
	c.version = mcp.AgreeVersion("")
	c.params = fmt.Appendf(nil, `{"protocolVersion":"%s","capabilities":%s,"clientInfo":%s}`, c.version, can, info)
}

// hubInfo returns the hub's own description (serverInfo) as JSON.
func hubInfo(version string) string {
	return fmt.Sprintf(`{"name":"clawai hub","version":%s}`, quoteJSON(version))
}

func quoteJSON(text string) []byte { return gjson.AppendJSONString(nil, text) }

// requestMeta returns the _meta for requests of the hub in the name of a client. The parameter can
// holds the client's capabilities, and info holds the client's description of itself.
func requestMeta(can, info jsonscan.Value) []byte {
	if can.Kind() != jsonscan.Object {
		can = "{}"
	}
	who := jsonscan.Value("")
	if info.Kind() == jsonscan.Object {
		who = `,"` + mcp.MetaPrefix + `clientInfo":` + info
	}
	return fmt.Appendf(nil, `{"%[1]sprotocolVersion":"%[2]s","%[1]sclientCapabilities":%[3]s%[4]s}`, mcp.MetaPrefix, mcp.ModernVersion, can, who)
}

// isModern reports whether the client uses the MCP version 2026-07-28.
func (h *hub) isModern() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client.meta != nil
}

// versionError checks a request that states a version. It returns nil if the request is valid in
// the MCP version 2026-07-28, and the error otherwise.
func versionError(f *frame.Frame, version string, meta jsonscan.Value) []byte {
	switch {
	case version != mcp.ModernVersion:
		return fmt.Appendf(nil, `{"code":-32022,"message":"Unsupported protocol version","data":{"supported":%s,"requested":%s}}`,
			allVersions(), meta.Member(mcp.MetaPrefix+"protocolVersion"))
	case mcp.IsRemoved(f.Method):
		return newError(-32601, f.Method+" is not a method of "+mcp.ModernVersion)
	case meta.Member(mcp.MetaPrefix+"clientCapabilities").Kind() != jsonscan.Object:
		return newError(-32602, "_meta does not say what the client can: "+mcp.MetaPrefix+"clientCapabilities")
	}
	return nil
}

// allVersions returns the supported versions as a JSON array, the newest first.
func allVersions() string {
	all := append(slices.Clone(mcp.LegacyVersions), mcp.ModernVersion)
	slices.Reverse(all)
	return `["` + strings.Join(all, `","`) + `"]`
}

// refusalError returns the error for a request that the hub must refuse. It returns nil if the hub
// may answer the request.
func (o *own) refusalError(f *frame.Frame) []byte {
	o.h.mu.Lock()
	begun, modern := o.h.client.params != nil, o.h.client.meta != nil
	o.h.mu.Unlock()
	version, meta := messageVersion(f.Params)
	switch {
	case begun && !modern && f.Method == "server/discover":
		return newError(-32601, "this session began with initialize, and keeps to it")
	case begun && !modern:
		return nil
	case version != "":
		return versionError(f, version, meta)
	case modern && f.Method == "initialize":
		return newError(-32600, "this session speaks "+mcp.ModernVersion+" already, which has no initialize")
	case modern:
		return newError(-32602, "_meta does not say the version: "+mcp.MetaPrefix+"protocolVersion")
	case f.Method != "initialize" && f.Method != "ping":
		return newError(-32601, f.Method+" is unknown before initialize, or without a version in its _meta")
	}
	return nil
}

// offers has the hub's capabilities as JSON, for initialize and server/discover. They are constant,
// because the hub learns the servers' capabilities only when it starts the servers.
const offers = `"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`

// answerDiscover answers server/discover at once and asks no server.
func (o *own) answerDiscover(f *frame.Frame) {
	instructions := ""
	if text := o.h.joinInstructions(); text != "" {
		instructions = `,"instructions":` + string(quoteJSON(text))
	}
	o.sendResult(f, fmt.Appendf(nil, `{"supportedVersions":%s,`+offers+`%s}`, allVersions(), instructions))
}

// maxInstructions is the number of bytes of a server's instructions that clients are known to read.
const maxInstructions = 2 << 10

// joinInstructions returns the instructions of the servers that have run, each after the server's
// id. It returns at most maxInstructions bytes.
func (h *hub) joinInstructions() (all string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.currentServers() {
		if one := "[" + s.ID + "] " + s.instructions + "\n"; s.instructions != "" && len(all)+len(one) <= maxInstructions {
			all += one
		}
	}
	return strings.TrimSuffix(all, "\n")
}

// noteIntroduction stores a server's opening answer and its instructions.
func (c *conn) noteIntroduction(method string, result []byte) {
	s := c.server
	c.keepIntroduction(method)
	text := strings.Clone(jsonscan.ValueOf(result).Member("instructions").Text())
	s.h.mu.Lock()
	s.instructions = text
	s.h.mu.Unlock()
}

// completeResult adds to a result of the hub the members that the client's version needs. In the
// MCP version 2026-07-28 a list gets a ttlMs of 0, because the list may change at any moment. It
// gets the cacheScope "private", because rules remove tools that this client may not use.
func (o *own) completeResult(f *frame.Frame, result []byte) []byte {
	if version, _ := messageVersion(f.Params); version == "" || !o.h.isModern() && f.Method != "server/discover" {
		return result
	}
	value := jsonscan.ValueOf(result)
	info := hubInfo(o.h.o.Version)
	if meta := value.Member("_meta"); meta != "" {
		result = frame.SpliceAll(result, memberEdit(meta, mcp.MetaPrefix+"serverInfo", info))
	} else {
		result = frame.SpliceAll(result, memberEdit(value, "_meta", `{"`+mcp.MetaPrefix+`serverInfo":`+info+`}`))
	}
	return frame.SpliceAll(result, completionEdit(jsonscan.ValueOf(result), f.Method))
}

// completionEdit returns the edit that adds resultType to a result. For the methods that need them,
// it also adds a ttlMs of 0 and the cacheScope "private".
func completionEdit(result jsonscan.Value, method string) frame.Edit {
	var missing []string
	add := func(name, value string) {
		if result.Member(name) == "" {
			missing = append(missing, `"`+name+`":`+value)
		}
	}
	add("resultType", `"complete"`)
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover":
		add("ttlMs", "0")
		add("cacheScope", `"private"`)
	}
	return prependEdit(result, strings.Join(missing, ","))
}

// modernEdits returns the edits that turn a server's answer in an earlier version of MCP into an
// answer for a client that speaks version 2026-07-28. A result gets its resultType. The error
// "resource not found" gets its new code.
func modernEdits(f *frame.Frame, method string) []frame.Edit {
	if result := jsonscan.ValueOf(f.Result); result.Kind() == jsonscan.Object {
		return []frame.Edit{completionEdit(result, method)}
	}
	if code := jsonscan.ValueOf(f.Error).Member("code"); code == "-32002" {
		return []frame.Edit{{Part: code.Bytes(), Token: []byte("-32602")}}
	}
	return nil
}

// discoverDivisor divides the server's timeout. The result is the time limit for server/discover. A
// server that does not answer in this time is treated as a server without this method.
const discoverDivisor = 3

// discoverVersion reports whether the server speaks the MCP version 2026-07-28
// (basic/transports/stdio, backward compatibility). meta is the _meta for all requests to such a
// server. With a nil meta it returns false and does not ask the server.
func (c *conn) discoverVersion(meta []byte) (modern bool, err error) {
	s := c.server
	if meta == nil || s.older {
		return false, nil
	}
	answer := make(chan frame.Frame, 1)
	c.requestAnswer("server/discover", slices.Concat([]byte(`{"_meta":`), meta, []byte("}")), answer)
	f, err := c.awaitAnswer(answer, "server/discover", max(s.Timeout/discoverDivisor, time.Millisecond))
	if err != nil {
		if s.ctx.Err() != nil {
			return false, err
		}
		s.older = true // the unknown method may have ended the server, so it is not tried again
		if c.isOver() {
			return false, err
		}
		return false, nil
	}
	for version := range jsonscan.ValueOf(f.Result).Member("supportedVersions").Elements() {
		modern = modern || version.Text() == mcp.ModernVersion
	}
	if modern {
		c.meta = meta
		c.modern.Store(true)
		c.noteIntroduction("server/discover", f.Result)
		if !c.recalled {
			c.followLists(jsonscan.ValueOf(f.Result).Member("capabilities"))
		}
	}
	return modern, nil
}

// requestParams returns the params of a request of the hub: the given members, and the _meta if the
// server's version needs one.
func (c *conn) requestParams(members string) []byte {
	switch {
	case c.meta == nil:
		return []byte("{" + members + "}")
	case members != "":
		members = "," + members
	}
	return []byte(`{"_meta":` + string(c.meta) + members + "}")
}

// legacyEdits returns the edits that turn a request in the MCP version 2026-07-28 into a request
// for a server of an earlier version. The edits remove from _meta the members that only the new
// version has. legacyEdits refuses the request, and returns nil, if the request is a retry that
// came too late. Otherwise the server would execute the whole call again.
func (c *conn) legacyEdits(call *call, f *frame.Frame, edits []frame.Edit) []frame.Edit {
	params := jsonscan.ValueOf(f.Params)
	if params.Member("requestState") != "" || params.Member("inputResponses") != "" {
		c.claimAsker(call.ownID)
		r := &frame.Refusal{Code: "late_form", Reason: "the answer came too late, the question is over and nothing was done", ID: f.ID, Request: true}
		if c.server.h.finishCall(call) {
			c.server.h.own.useClientStream(func(own *proxy.Stream) { own.RefuseLine(c.server.h.ctx, f.Raw, r) })
		}
		return nil
	}
	b := []byte{'{'}
	meta := params.Member("_meta")
	for key, value := range meta.Members() {
		switch key.Text() {
		case mcp.MetaPrefix + "protocolVersion", mcp.MetaPrefix + "clientInfo", mcp.MetaPrefix + "clientCapabilities":
			continue
		case mcp.MetaPrefix + "logLevel":
			if call.logs = value.Kind() == jsonscan.String; call.logs && string(c.level) != string(value) {
				c.setLevel(slices.Clone(value.Bytes()))
			}
			continue
		case "progressToken":
			if call.token != nil {
				value = jsonscan.ValueOf(call.ownID)
			}
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(edits, frame.Edit{Part: meta.Bytes(), Token: append(b, '}')})
}

// mayLog reports whether a client of the MCP version 2026-07-28 gets log messages of the server.
// Such a client asks for them in each request. A server of this version sends only log messages
// that were asked for. For a server of an earlier version the hub checks the calls in flight.
func (c *conn) mayLog() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asked {
		if a.call != nil && a.call.logs {
			return true
		}
	}
	return c.modern.Load()
}
