// Package demo is the story that `clawai demo` tells: a real MCP filesystem
// server confined to a folder of samples, and the calls an agent would try
// against it. It must never touch anything outside that folder.
package demo

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve runs the filesystem server on stdin and stdout until the client goes.
// Its tools carry the names of the reference filesystem server, so that the
// policy of the demo is one a person can keep.
func Serve(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("demo server: %w", err)
	}
	defer func() { _ = root.Close() }()
	return newServer(files{root, dir}).Run(ctx, &mcp.StdioTransport{})
}

func newServer(f files) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "clawai-demo-filesystem", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read_text_file", Description: "Read a text file"}, f.read)
	mcp.AddTool(s, &mcp.Tool{Name: "list_directory", Description: "List a directory"}, f.list)
	mcp.AddTool(s, &mcp.Tool{Name: "write_file", Description: "Write a text file"}, f.write)
	return s
}

// files is the folder the tools work in. os.Root keeps them inside it whatever
// the policy says: the demo must be safe even if its policy is edited.
type files struct {
	root *os.Root
	dir  string
}

type pathArgs struct {
	Path string `json:"path" jsonschema:"an absolute path"`
}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"an absolute path"`
	Content string `json:"content" jsonschema:"the new text"`
}

func (f files) read(_ context.Context, _ *mcp.CallToolRequest, in pathArgs) (*mcp.CallToolResult, any, error) {
	rel, err := f.inside(in.Path)
	if err != nil {
		return nil, nil, err
	}
	data, err := f.root.ReadFile(rel)
	if err != nil {
		return nil, nil, err
	}
	return text(string(data)), nil, nil
}

func (f files) list(_ context.Context, _ *mcp.CallToolRequest, in pathArgs) (*mcp.CallToolResult, any, error) {
	rel, err := f.inside(in.Path)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(rel))
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return text(strings.Join(names, "\n")), nil, nil
}

func (f files) write(_ context.Context, _ *mcp.CallToolRequest, in writeArgs) (*mcp.CallToolResult, any, error) {
	rel, err := f.inside(in.Path)
	if err != nil {
		return nil, nil, err
	}
	if err := f.root.WriteFile(rel, []byte(in.Content), 0o600); err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("wrote %d bytes", len(in.Content))), nil, nil
}

func (f files) inside(path string) (string, error) {
	rel, err := filepath.Rel(f.dir, path)
	if err != nil {
		return "", fmt.Errorf("the path must be absolute: %w", err)
	}
	return rel, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
