// Package demo contains the story of `clawai demo`: an MCP filesystem server that can only reach a
// folder of samples, and the calls of an agent. The package must never touch anything outside that
// folder.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Serve runs the filesystem server on standard input and output until the client ends. Its tools
// have the names of the reference filesystem server, so that a person can use the demo's policy for
// that server.
func Serve(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("demo server: %w", err)
	}
	defer func() { _ = root.Close() }()
	return answerRequests(os.Stdin, os.Stdout, files{root, dir})
}

// protocol is the version of MCP that the client and the server of the demo use.
const protocol = "2025-11-25"

// answerRequests answers the requests of a client. It does not use the official SDK, because then
// every clawai proxy would initialise the SDK at its start.
func answerRequests(in io.Reader, out io.Writer, f files) error {
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("demo server: %w", err)
		}
		if r.ID == nil { // r is a notification
			continue
		}
		answer := reply{Version: "2.0", ID: r.ID}
		switch r.Method {
		case "initialize":
			answer.Result = json.RawMessage(`{"protocolVersion":"` + protocol + `","capabilities":{"tools":{}},"serverInfo":{"name":"clawai-demo-filesystem","version":"1"}}`)
		case "ping":
			answer.Result = json.RawMessage(`{}`)
		case "tools/list":
			answer.Result = json.RawMessage(tools)
		case "tools/call":
			answer.Result = f.callTool(r.Params)
		default:
			answer.Error = &rpcError{Code: -32601, Message: "method not found"}
		}
		if err := replies.Encode(answer); err != nil {
			return fmt.Errorf("demo server: %w", err)
		}
	}
}

const tools = `{"tools":[
{"name":"list_directory","description":"List a directory","inputSchema":` + path + `},
{"name":"read_text_file","description":"Read a text file","inputSchema":` + path + `},
{"name":"write_file","description":"Write a text file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]}`

const path = `{"type":"object","properties":{"path":{"type":"string","description":"an absolute path"}},"required":["path"]}`

// callTool runs a tool. If the tool fails, the error is in the result, so that the model reads it.
func (f files) callTool(params callParams) (result callResult) {
	text, err := "", fmt.Errorf("there is no tool %q", params.Name)
	switch args := params.Arguments; params.Name {
	case "read_text_file":
		text, err = f.readFile(args)
	case "list_directory":
		text, err = f.listFolder(args)
	case "write_file":
		text, err = f.writeFile(args)
	}
	if err != nil {
		text = err.Error()
	}
	return callResult{Content: []content{{Type: "text", Text: text}}, IsError: err != nil}
}

// files is the folder that the tools can reach. os.Root keeps the tools in that folder, even if the
// person edits the policy.
type files struct {
	root *os.Root
	dir  string
}

func (f files) readFile(in arguments) (string, error) {
	rel, err := f.relativePath(in.Path)
	if err != nil {
		return "", err
	}
	data, err := f.root.ReadFile(rel)
	return string(data), err
}

func (f files) listFolder(in arguments) (string, error) {
	rel, err := f.relativePath(in.Path)
	if err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(rel))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, "\n"), err
}

func (f files) writeFile(in arguments) (string, error) {
	rel, err := f.relativePath(in.Path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %d bytes", len(in.Content)), f.root.WriteFile(rel, []byte(in.Content), 0o600)
}

func (f files) relativePath(path string) (string, error) {
	rel, err := filepath.Rel(f.dir, path)
	if err != nil {
		return "", fmt.Errorf("the path must be absolute: %w", err)
	}
	return rel, nil
}
