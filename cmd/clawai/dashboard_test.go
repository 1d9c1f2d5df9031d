//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The dashboard that is killed while a page is open leaves the record as it was, and makes no folder
// for one that is not there.
func TestDashboardKilled(t *testing.T) {
	home := aDay(t)
	record := filepath.Join(home, ".local", "state", "clawai", "audit")
	before := readFolder(t, record)
	for _, dir := range []string{home, t.TempDir()} {
		cmd := exec.Command("clawai", "dashboard")
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAWAI_STATE_DIR=", "CLAWAI_CONFIG_DIR=")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		link := ""
		for lines := bufio.NewScanner(out); link == "" && lines.Scan(); {
			link = pageLink.FindString(lines.Text())
		}
		origin, token, _ := strings.Cut(link, "/#")
		var in struct{ Key, Start string }
		askPage(t, "POST", origin, "/session", "", `{"token":"`+token+`"}`, &in)
		if in.Start != "/overview" {
			t.Errorf("the link leads to %q", in.Start)
		}
		var view struct{ Title string }
		if askPage(t, "GET", origin, "/view/overview", in.Key, "", &view); view.Title != "Overview" {
			t.Errorf("the view is %+v", view)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if _, err := os.Stat(filepath.Join(dir, ".local", "state", "clawai", "audit")); dir != home && !os.IsNotExist(err) {
			t.Errorf("a folder of the record was made: %v", err)
		}
	}
	if after := readFolder(t, record); len(before) == 0 || len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	} else {
		for name, text := range before {
			if !bytes.Equal(text, after[name]) {
				t.Errorf("%s was changed", name)
			}
		}
	}
}

func readFolder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// askPage sends what the page itself would send.
func askPage(t *testing.T, method, origin, path, key, body string, v any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, origin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", origin)
	r.Header.Set("X-Clawai-Key", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
}
