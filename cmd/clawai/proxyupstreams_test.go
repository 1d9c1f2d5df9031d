//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each server gets the headers of everybody's files and of its own, and of no
// other's.
func TestHeaderFilesOfUpstreams(t *testing.T) {
	one, two := newBackServer(t), newBackServer(t)
	one.Start()
	two.Start()
	var secrets []string
	for i := range 4 {
		secrets = append(secrets, fmt.Sprintf("s3cr3t-%d-%d", i, time.Now().UnixNano()))
	}
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "one="+one.URL+"/mcp", "--upstream", "two="+two.URL+"/mcp",
		"--header-file", "ALL", "--header-file", "one=OWN", "--header-file", "two=OTHER", "--header-file", "one=MORE")
	for name, src := range map[string]string{
		"all":   "X-All: " + secrets[0] + "\nX-Who: everybody\n",
		"own":   "Authorization: Bearer " + secrets[1] + "\nX-Who: first\nX-Own: " + secrets[3] + "\n",
		"other": "X-Key: " + secrets[2] + "\n",
		"more":  "X-Who: ${WHO}\n",
	} {
		r.write(name, src)
	}
	for i, a := range r.cmd.Args {
		for _, name := range []string{"ALL", "OWN", "OTHER", "MORE"} {
			if strings.TrimPrefix(strings.TrimPrefix(a, "one="), "two=") == name {
				r.cmd.Args[i] = strings.TrimSuffix(a, name) + r.path(strings.ToLower(name))
			}
		}
	}
	r.cmd.Env = append(r.cmd.Env, "WHO=one")
	s := serve(t, r, 2)
	c := ownClient(t)
	for name, at := range s.at {
		if got := s.post(at, callOf(1, "hello"), c); !strings.HasPrefix(got, "200 ") {
			t.Error(name, got)
		}
	}
	for name, tt := range map[string]struct {
		back *backServer
		want map[string]string
	}{
		"one": {one, map[string]string{"X-All": secrets[0], "X-Who": "one", "Authorization": "Bearer " + secrets[1], "X-Own": secrets[3], "X-Key": ""}},
		"two": {two, map[string]string{"X-All": secrets[0], "X-Who": "everybody", "Authorization": "", "X-Own": "", "X-Key": secrets[2]}},
	} {
		all, _ := tt.back.requests()
		if len(all) != 1 {
			t.Fatalf("%s heard %d requests", name, len(all))
		}
		for header, want := range tt.want {
			if got := strings.Join(all[0].Header.Values(header), "|"); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
	r.keeps(secrets, "all", "own", "other", "more")
}
