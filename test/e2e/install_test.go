//go:build e2e && linux

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// registry answers npm as a registry does: with a package's versions, and with their files.
type registry struct {
	t        *testing.T
	packages map[string]map[string]tarball // by name and version
	url      string
}

// tarball is one version of a package.
type tarball struct {
	about   map[string]any // of package.json, beside name and version
	files   map[string]string
	links   map[string]string
	changed bool // other bytes are sent than the registry says
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	name, file, isFile := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/-/")
	versions, known := r.packages[name]
	if !known {
		http.NotFound(w, q)
		return
	}
	if isFile {
		p := versions[strings.TrimSuffix(file, ".tgz")]
		if p.changed {
			p.files = map[string]string{"index.js": "changed"}
		}
		_, _ = w.Write(p.pack(r.t, name, strings.TrimSuffix(file, ".tgz")))
		return
	}
	doc := map[string]any{"name": name, "versions": map[string]any{}}
	latest := ""
	for version, p := range versions {
		sum := sha512.Sum512(p.pack(r.t, name, version))
		about := p.describe(name, version)
		about["dist"] = map[string]any{"tarball": r.url + "/" + name + "/-/" + version + ".tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		if _, ok := about["scripts"]; ok {
			about["hasInstallScript"] = true
		}
		doc["versions"].(map[string]any)[version] = about
		latest = max(latest, version)
	}
	doc["dist-tags"] = map[string]string{"latest": latest}
	_ = json.NewEncoder(w).Encode(doc)
}

func (p tarball) describe(name, version string) map[string]any {
	about := map[string]any{"name": name, "version": version, "bin": "index.js"}
	for key, value := range p.about {
		about[key] = value
	}
	return about
}

func (p tarball) pack(t *testing.T, name, version string) []byte {
	src, err := json.Marshal(p.describe(name, version))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	to := tar.NewWriter(zip)
	add := func(h tar.Header, text string) {
		h.Mode, h.Size = 0o755, int64(len(text))
		if err := to.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Name: "package/package.json", Typeflag: tar.TypeReg}, string(src))
	for _, at := range []string{"index.js", "../../../../../evil.js", "sub/x.js"} {
		if text, there := p.files[at]; there {
			add(tar.Header{Name: "package/" + at, Typeflag: tar.TypeReg}, text)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(p.links)) { // the digest is that of the same bytes
		add(tar.Header{Name: "package/" + at, Typeflag: tar.TypeSymlink, Linkname: p.links[at]}, "")
	}
	for _, end := range []func() error{to.Close, zip.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// notesServer is a server for node with tools of these names. It writes into its own folder and beside it, if it
// can.
func notesServer(tools ...string) string {
	list := ""
	for _, name := range tools {
		list += fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}},`, name)
	}
	return `#!/usr/bin/env node
const fs = require('fs');
for (const at of [__filename + '.mark', process.env.HOME + '/mark-of-server']) try { fs.writeFileSync(at, 'x') } catch {}
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const m = JSON.parse(line);
  const result = {initialize: {protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo: {name: 'n', version: '1'}}, 'tools/list': {tools: [` + list + `]}}[m.method];
  if (result) console.log(JSON.stringify({jsonrpc: '2.0', id: m.id, result}));
});
`
}

// The real npm installs from a registry of this test what clawai then starts. What packages bring along to
// leave their folder, or to run while they are installed, does neither.
func TestInstallFromRegistry(t *testing.T) {
	s := newSite(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\n\n[server.notes.sandbox]\nlevel = \"enforce\"\n")
	mark := "node -e \"require('fs').writeFileSync('" + s.home + "/mark','x')\""
	scripts := map[string]any{"preinstall": mark, "install": mark, "postinstall": mark, "prepare": mark}
	r := &registry{t: t, packages: map[string]map[string]tarball{
		"some-notes": {
			"1.0.0": {about: map[string]any{"scripts": scripts, "dependencies": map[string]string{"deep": "*"}}, files: map[string]string{
				"index.js": notesServer("read"), "../../../../../evil.js": "x"}, links: map[string]string{"home": s.home, "up": "../../../.."}},
			"2.0.0": {files: map[string]string{"index.js": notesServer("read", "erase")}},
		},
		"deep":     {"1.0.0": {about: map[string]any{"scripts": scripts}, files: map[string]string{"index.js": ""}}},
		"from-git": {"1.0.0": {about: map[string]any{"dependencies": map[string]string{"x": "git+file://" + s.home + "/repository"}}, files: map[string]string{"index.js": notesServer("read")}}},
		"changed":  {"1.0.0": {files: map[string]string{"index.js": notesServer("read")}, changed: true}},
	}}
	server := httptest.NewServer(r)
	defer server.Close()
	r.url = server.URL
	s.write(".npmrc", "registry="+server.URL+"/\nfetch-retries=0\n")
	s.write("repository/package.json", `{"name":"x","version":"1.0.0","scripts":{"prepare":"touch `+s.home+`/mark"}}`)
	s.write("repository/.npmrc", "git="+s.home+"/mark-by-git\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"}} {
		if out, err := s.run(append([]string{"git", "-C", s.home + "/repository"}, args...)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(clawai, args...)
		cmd.Env, cmd.Dir = s.env, s.projects()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	entry := func(pkg string) {
		s.write(".claude.json", `{"mcpServers":{"notes":{"command":"npx","args":["-y","`+pkg+`"]}}}`)
	}
	refuse := func(pkg, want string) {
		t.Helper()
		entry(pkg)
		if out, err := run("sandbox", "install", "notes", "--yes"); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", pkg, err, out)
		}
		if found, _ := filepath.Glob(s.home + "/.local/state/clawai/servers/notes-*/*"); len(found) > 0 {
			t.Errorf("%s leaves %q", pkg, found)
		}
	}
	refuse("from-git", "nothing was installed")
	refuse("changed", "EINTEGRITY")
	refuse("none", "E404")
	entry("some-notes")
	if out, err := run("sandbox", "install", "notes", "--version", "1.0.0"); err != nil || !strings.Contains(out, "Their install scripts were not run: deep, some-notes.") {
		t.Fatalf("%v\n%s", err, out)
	}
	command := []string{"proxy", "--ask", "never", "--server", "notes", "--", "npx", "-y", "some-notes"}
	if out := s.converse(command, nil); !strings.Contains(out, `"tools":[{"name":"read"`) {
		t.Error(out)
	}
	if out, err := run("sandbox", "update", "notes"); err == nil || !strings.Contains(out, "erase") {
		t.Errorf("%v\n%s", err, out)
	}
	if out := s.converse(command, nil); strings.Contains(out, "erase") {
		t.Error(out)
	}
	if out, err := run("sandbox", "update", "notes", "--yes"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out := s.converse(command, nil); !strings.Contains(out, "erase") {
		t.Error(out)
	}
	server.Close()
	if out, err := run("sandbox", "update", "notes", "--yes"); err == nil || !strings.Contains(out, "nothing was installed: npm ended with") {
		t.Errorf("without the registry: %v\n%s", err, out)
	}
	if out := s.converse(command, nil); !strings.Contains(out, "erase") {
		t.Error(out)
	}
	for _, place := range []string{"mark", "mark-of-server", "mark-by-git", "evil.js", ".npm"} {
		if _, err := os.Lstat(filepath.Join(s.home, place)); err == nil {
			t.Errorf("something has written ~/%s", place)
		}
	}
	if found, _ := filepath.Glob(s.home + "/.local/state/clawai/servers/notes-*/new-*/node_modules/some-notes/*.mark"); len(found) > 0 {
		t.Errorf("the server has written %q", found)
	}
}
