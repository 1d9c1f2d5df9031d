//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/testing/postgrestest"
)

// centre is a running clawai-gateway with its database, and the browser session of its
// administrator.
type centre struct {
	dir      string
	postgres *postgrestest.Server
	process  *exec.Cmd
	said     bytes.Buffer // the output of the centre, standard output and standard error
	address  string
	browser  *http.Client
	form     string // the token that each form in this browser session must contain
	tag      string // ETag of the published bundle
}

const (
	database = "centre"
	fileMode = 0o600
)

// startCentre builds clawai-gateway, and starts it with a new PostgreSQL server. If explain is
// true, the database writes the plans of slow statements into its log.
func startCentre(ctx context.Context, explain bool) (_ *centre, err error) {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return nil, err
	}
	c := &centre{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	// auto_explain writes the plans of slow statements into the database's log.
	var settings []string
	if explain {
		settings = []string{"session_preload_libraries=auto_explain", "auto_explain.log_min_duration=20ms", "auto_explain.log_analyze=on", "auto_explain.log_buffers=on"}
	}
	if c.postgres, err = postgrestest.Run(ctx, append(settings, "max_wal_size=4GB")...); err != nil {
		return nil, err
	}
	if _, err := c.askDatabase(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", c.program(), "./cmd/clawai-gateway").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	if err := c.serve(ctx); err != nil {
		return nil, err
	}
	return c, c.signIn(ctx)
}

func (c *centre) program() string { return filepath.Join(c.dir, "clawai-gateway") }
func (c *centre) folder() string  { return filepath.Join(c.dir, "centre") }

// askDatabase runs SQL statements and returns their rows as text.
func (c *centre) askDatabase(ctx context.Context, name, statements string) (string, error) {
	cmd := exec.CommandContext(ctx, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", c.postgres.Dir, "-U", "postgres", "-d", name)
	cmd.Stdin = strings.NewReader(statements)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// serve starts the centre with a new key, and publishes a bundle.
func (c *centre) serve(ctx context.Context) error {
	secret, public, err := bundle.NewKey("team.example")
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.folder(), 0o700); err != nil {
		return err
	}
	settings := fmt.Sprintf("bundle_keys = [%q]\ndatabase = %q\n", public, c.postgres.Address(database))
	if err := os.WriteFile(filepath.Join(c.folder(), "gateway.toml"), []byte(settings), fileMode); err != nil {
		return err
	}
	src, err := bundle.Write(bundle.Bundle{Counter: 1, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"shell\"\n")}}})
	if err == nil {
		src, err = bundle.Sign(src, secret)
	}
	path := filepath.Join(c.dir, "one.bundle")
	if err == nil {
		err = os.WriteFile(path, src, fileMode)
	}
	if err != nil {
		return err
	}
	c.process = exec.CommandContext(ctx, c.program(), "serve", "--dev", "--dir", c.folder(), "--port", "0")
	c.process.Stdout, c.process.Stderr = &c.said, &c.said
	if err := c.process.Start(); err != nil {
		return err
	}
	for range 1000 {
		time.Sleep(10 * time.Millisecond)
		if src, err := os.ReadFile(filepath.Join(c.folder(), "gateway.address")); err == nil && len(src) > 0 {
			c.address = strings.TrimSpace(string(src))
			if out, err := exec.CommandContext(ctx, c.program(), "publish", "--dir", c.folder(), path).CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return nil
		}
	}
	return errors.New("the centre does not begin to serve")
}

var formToken = regexp.MustCompile(`name="form" value="([0-9a-f]+)"`)

// signIn signs the browser in with a link from clawai-gateway link.
func (c *centre) signIn(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	c.browser = &http.Client{Jar: jar, Timeout: 10 * time.Minute}
	out, err := exec.CommandContext(ctx, c.program(), "link", "--dir", c.folder()).Output()
	if err != nil {
		return err
	}
	_, token, ok := strings.Cut(string(out), "/sign-in/")
	if !ok {
		return fmt.Errorf("no link: %s", out)
	}
	if token, _, _ = strings.Cut(token, "\n"); token == "" {
		return fmt.Errorf("no link: %s", out)
	}
	body, err := c.submit(ctx, "/sign-in", "token", strings.TrimSpace(token))
	if err != nil {
		return err
	}
	found := formToken.FindSubmatch(body)
	if found == nil {
		return fmt.Errorf("not signed in:\n%s", body)
	}
	c.form = string(found[1])
	return nil
}

// stop ends the centre and its database, and removes all files.
func (c *centre) stop() (err error) {
	if c.process != nil && c.process.Process != nil {
		_ = c.process.Process.Signal(os.Interrupt)
		if failed := c.process.Wait(); failed != nil {
			err = fmt.Errorf("the centre: %w\n%s", failed, c.said.Bytes())
		}
	}
	if c.postgres != nil {
		err = errors.Join(err, c.postgres.Stop())
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}
