package mcp

import (
	"path"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxRoots is the maximum number of roots that are read. All further roots become one unknown root.
const maxRoots = 64

// DeclaredRoots returns the roots that a client declares. They are in the result of roots/list, or
// in the answers to input requests of a result (MCP 2026-07-28 basic/patterns/mrtr). A plain file:
// URI becomes a clean path. Other texts are unchanged.
func DeclaredRoots(result, inputResponses []byte) (roots []string) {
	lists := []jsonscan.Value{jsonscan.ValueOf(result).Member("roots")}
	for _, answer := range jsonscan.ValueOf(inputResponses).Members() {
		lists = append(lists, answer.Member("roots"))
	}
	for _, list := range lists {
		for root := range list.Elements() {
			if len(roots) == maxRoots {
				return append(roots, "")
			}
			roots = append(roots, folderOf(root.Member("uri").Text()))
		}
	}
	return roots
}

// folderOf returns the folder of a file: URI without escapes. It returns any other text unchanged.
func folderOf(uri string) string {
	rest, found := strings.CutPrefix(uri, "file://")
	if !found || !strings.HasPrefix(rest, "/") || strings.ContainsAny(rest, `%?#\`) {
		return strings.Clone(uri)
	}
	return strings.Clone(path.Clean(rest))
}
