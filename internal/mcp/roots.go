package mcp

import (
	"path"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxRoots is how many roots are read; more are one that is nothing known.
const maxRoots = 64

// DeclaredRoots gives what a client declares as its roots: in the result of roots/list, or in the
// answers to the input requests of a result (MCP 2026-07-28 basic/patterns/mrtr). A file:
// URI is given as the folder that it plainly names, clean, and everything else as it stands.
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

// folderOf gives the folder of a file: URI without escapes; other texts are given back.
func folderOf(uri string) string {
	rest, found := strings.CutPrefix(uri, "file://")
	if !found || !strings.HasPrefix(rest, "/") || strings.ContainsAny(rest, `%?#\`) {
		return strings.Clone(uri)
	}
	return strings.Clone(path.Clean(rest))
}
