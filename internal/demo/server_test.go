package demo

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTheOfficialClientUsesTheServer: the server is written by hand, and is one.
func TestTheOfficialClientUsesTheServer(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(toServer, fromServer, files{root, dir}) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	list, err := client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, c := range []struct {
		tool, path string
		failed     bool
		text       string
	}{
		{"write_file", filepath.Join(dir, "a"), false, "wrote 5 bytes"},
		{"read_text_file", filepath.Join(dir, "a"), false, "hello"},
		{"list_directory", dir, false, "a"},
		{"read_text_file", filepath.Join(dir, "b"), true, "openat b: no such file or directory"},
		{"read_text_file", filepath.Join(dir, "..", "b"), true, "openat ../b: path escapes from parent"},
		{"remove", dir, true, `there is no tool "remove"`},
	} {
		got, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: map[string]any{"path": c.path, "content": "hello"}})
		if err != nil || got.IsError != c.failed || len(got.Content) != 1 || got.Content[0].(*mcp.TextContent).Text != c.text {
			t.Errorf("%s %s: %+v, %v", c.tool, c.path, got, err)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
