package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// listServer is a server that lists what a file says, by member: instructions, version,
// and pages of tools, prompts and resourceTemplates (arrays of arrays). With a word
// behind the file it misbehaves once it is asked for its tools. It never answers a call
// of hang.
func listServer() {
	var said struct {
		Instructions, Version string
		Tools, Prompts        [][]json.RawMessage
		ResourceTemplates     [][]json.RawMessage
	}
	src, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(src, &said)
	}
	if err != nil {
		panic(err)
	}
	misbehaves := strings.Join(os.Args[2:], " ")
	lines := bufio.NewScanner(os.Stdin)
	for n := 0; lines.Scan(); n++ {
		var m struct {
			ID     any
			Method string
			Params struct{ Cursor, Name string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		var result any
		page := len(m.Params.Cursor)
		switch m.Method {
		case "initialize":
			has := map[string]any{"tools": struct{}{}, "resources": struct{}{}}
			if said.Prompts != nil {
				has["prompts"] = struct{}{}
			}
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": has, "instructions": said.Instructions, "serverInfo": map[string]string{"name": "list", "version": said.Version}}
		case "tools/list":
			result = listed("tools", said.Tools, page)
			switch misbehaves {
			case "circle":
				result = map[string]any{"tools": []any{}, "nextCursor": "again"}
			case "endless":
				result = map[string]any{"tools": []any{}, "nextCursor": fmt.Sprint(n)}
			case "flood":
				fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":{"tools":[{"name":"%s"}]}}`+"\n", m.ID, strings.Repeat("x", 64<<20))
				continue
			case "garbage":
				fmt.Println("\x1b[2JReady!")
			case "twice":
				result = map[string]any{"tools": []any{map[string]string{"name": "find"}, map[string]string{"name": "find"}}}
			case "nameless":
				result = map[string]any{"tools": []any{map[string]string{"title": "Find"}}}
			case "nolist":
				result = map[string]any{"tools": "all"}
			case "hang":
				time.Sleep(time.Hour)
			case "die":
				os.Exit(3)
			}
		case "tools/call":
			if m.Params.Name == "hang" {
				continue
			}
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": "called " + m.Params.Name}}}
		case "prompts/list":
			result = listed("prompts", said.Prompts, page)
		case "resources/templates/list":
			if said.ResourceTemplates == nil {
				fmt.Printf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
				continue
			}
			result = listed("resourceTemplates", said.ResourceTemplates, page)
		}
		reply, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		fmt.Printf("%s\n", reply)
	}
}

// listed is one page; a cursor is as long as its page's number.
func listed(member string, pages [][]json.RawMessage, page int) any {
	result := map[string]any{member: []json.RawMessage{}}
	if page < len(pages) {
		result[member] = pages[page]
	}
	if page+1 < len(pages) {
		result["nextCursor"] = strings.Repeat("c", page+1)
	}
	return result
}
