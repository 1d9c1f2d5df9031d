//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inVault puts a value into the vault of a run, for one server.
func (r *running) inVault(name, value, server, address string) {
	r.t.Helper()
	for _, args := range [][]string{{"set", "--store", "file", name}, {"bind", name, "--server", server, "--", address}} {
		cmd := exec.Command("clawai", append([]string{"vault"}, args...)...)
		cmd.Env, cmd.Stdin = r.cmd.Env, strings.NewReader(value+"\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			r.t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
}

// References in headers reach a remote server as what they stand for; the query of its
// address, which may be a key, is no part of what they are bound to.
func TestVaultOfARemoteServer(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	secret := fmt.Sprintf("s3cr3t-v-%d", time.Now().UnixNano())
	r := prepareClawai(t, "--server", "far", "--header-file", "", "--", back.URL+"/mcp?key=1")
	r.cmd.Args[9] = r.path("headers")
	r.write("headers", "Authorization: Bearer clawai-vault:token\n")
	r.cmd.Env = append(r.cmd.Env, "CLAWAI_HEADER_1=X-Env: clawai-vault:token")
	r.inVault("token", secret, "far", back.URL+"/mcp")
	r.start()
	r.say(begin)
	r.wants(`"id":0,"result"`)
	all, _ := back.requests()
	if h := all[0].Header; h.Get("Authorization") != "Bearer "+secret || h.Get("X-Env") != secret {
		t.Errorf("%v", h)
	}
	back.CloseClientConnections()
	back.Close()
	r.call("1", secret)
	r.wants(`"id":1`, "cannot be reached")
	_ = r.in.Close()
	r.code(inTime)
	r.keeps([]string{secret})
}

// The same of --listen.
func TestVaultOfListen(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	secret := fmt.Sprintf("s3cr3t-v-%d", time.Now().UnixNano())
	r := prepareClawai(t, "--header-file", "", "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL+"/mcp")
	r.cmd.Args[7] = r.path("headers")
	r.write("headers", "Authorization: Bearer clawai-vault:token\n")
	r.inVault("token", secret, "s", back.URL+"/mcp")
	s := serve(t, r, 1)
	if got := s.post(s.at["s"], callOf(1, secret), ownClient(t)); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	all, _ := back.requests()
	if all[0].Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("%v", all[0].Header)
	}
	s.ends(syscall.SIGTERM)
	s.keeps([]string{secret})
}
