package demo

import "encoding/json"

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params callParams      `json:"params"`
}

type callParams struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// arguments are the arguments of all tools of the demo.
type arguments struct {
	Content string `json:"content,omitempty"`
	Path    string `json:"path"`
}

type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type callResult struct {
	Content []content `json:"content"`
	IsError bool      `json:"isError,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}
