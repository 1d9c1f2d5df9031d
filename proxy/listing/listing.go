// Package listing starts a server with its own command, fetches its lists, and stops it. It checks
// the server's output as strictly as the proxy does. The server's time and memory are limited.
package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy/stdio"
)

// Limits of a server's output. The largest list known has 185 KB.
const (
	MaxBytes   = 4 << 20
	maxEntries = 5000
	maxPages   = 500
)

// Within is the usual time limit of ListServer. It is long because some servers must first be
// downloaded.
const Within = 60 * time.Second

// Options holds the command to start and its environment.
type Options struct {
	Args   []string      // the command and its arguments
	Env    []string      // environment of the server; nil means that of this process
	Cage   *cage.Plan    // the server's sandbox; nil means none
	Within time.Duration // time limit of ListServer
	// Refused is called for each host that the cage refuses. It may be nil.
	Refused func(hosts.Refusal)
}

// List holds a server's lists. The entries are unchanged. internal/wire/frame has checked them.
type List struct {
	Version      string // the server's own version
	Instructions string
	Tools        []jsonscan.Value
	Prompts      []jsonscan.Value
	Templates    []jsonscan.Value
}

// Describe returns the lists in the form for comparing pins. The parameter start is the server's
// command in the form of a lock file. Describe returns an error if an entry cannot be compared.
func (l *List) Describe(start []string) (pin.SelfDescription, error) {
	is := pin.SelfDescription{Start: start, Version: l.Version, Instructions: l.Instructions}
	for kind, entries := range map[pin.EntryKind][]jsonscan.Value{pin.Tool: l.Tools, pin.Prompt: l.Prompts, pin.Template: l.Templates} {
		for i, src := range entries {
			e, err := pin.Read(kind, src.Bytes())
			if err != nil {
				return is, fmt.Errorf("its %s %d: %w", kind, i+1, err)
			}
			if err := is.Add(e); err != nil {
				return is, err
			}
		}
	}
	return is, nil
}

// ListServer starts a server and fetches its lists. When it returns, the server and the server's
// own processes have ended.
func ListServer(ctx context.Context, o Options) (list List, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Within)
	defer cancel()
	child, err := stdio.Start(stdio.Options{Args: o.Args, Env: o.Env, Cage: o.Cage, Refused: o.Refused})
	if err != nil {
		return List{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = child.Close(ctx) })
	defer func() {
		stop()
		err = errors.Join(err, child.Close(ctx))
	}()
	list, err = newConversation(child).fetchLists()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %s", o.Within)
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	if err != nil {
		return List{}, err
	}
	return list, nil
}

// conversation is the exchange of messages with one server.
type conversation struct {
	to     io.Writer
	from   *frame.Reader
	budget *io.LimitedReader // limits the server's whole output to MaxBytes
	id     int
}

func newConversation(server io.ReadWriter) *conversation {
	budget := &io.LimitedReader{R: server, N: MaxBytes}
	return &conversation{to: server, from: frame.NewReader(budget, MaxBytes), budget: budget}
}

// fetchLists does the handshake. Then it fetches every page of every list that the server declares.
func (c *conversation) fetchLists() (list List, err error) {
	hello := map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "clawai", "version": "1"}}
	said, err := c.requestAnswer("initialize", hello)
	if err != nil {
		return list, err
	}
	list.Version = strings.Clone(said.Member("serverInfo").Member("version").Text())
	list.Instructions = strings.Clone(said.Member("instructions").Text())
	if err := c.sendMessage(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		return list, err
	}
	has := said.Member("capabilities")
	prompts, resources := has.Member("prompts") != "", has.Member("resources") != ""
	for _, ask := range []struct {
		method, member   string
		wanted, required bool
		into             *[]jsonscan.Value
	}{
		{"tools/list", "tools", has.Member("tools") != "" || !prompts && !resources, true, &list.Tools},
		{"prompts/list", "prompts", prompts, false, &list.Prompts},
		{"resources/templates/list", "resourceTemplates", resources, false, &list.Templates},
	} {
		if !ask.wanted {
			continue
		}
		*ask.into, err = c.collectPages(ask.method, ask.member)
		if refused, ok := errors.AsType[*refusal](err); ok && refused.code == methodNotFound && !ask.required {
			err = nil // the server has no such list; only few servers with resources have templates
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// collectPages returns the entries from all pages of a list.
func (c *conversation) collectPages(method, member string) (entries []jsonscan.Value, err error) {
	params, seen := map[string]string{}, map[string]bool{}
	for range maxPages {
		page, err := c.requestAnswer(method, params)
		if err != nil {
			return nil, err
		}
		if page.Member(member).Kind() != jsonscan.Array {
			return nil, fmt.Errorf("its answer to %s has no list of %s", method, member)
		}
		for entry := range page.Member(member).Elements() {
			if entries = append(entries, entry); len(entries) > maxEntries {
				return nil, fmt.Errorf("it lists more than %d %s", maxEntries, member)
			}
		}
		next := page.Member("nextCursor")
		if next.Kind() != jsonscan.String {
			return entries, nil
		}
		cursor := next.Text()
		if seen[cursor] {
			return nil, fmt.Errorf("its pages of %s repeat", member)
		}
		seen[cursor], params["cursor"] = true, cursor
	}
	return nil, fmt.Errorf("it has more than %d pages of %s", maxPages, member)
}

// methodNotFound is the "method not found" code of JSON-RPC 2.0, section 5.1.
const methodNotFound = "-32601"

// refusal is the server's error answer.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return "it says " + term.VisibleValue(r.message) }

// requestAnswer sends a request and reads messages until its answer comes.
func (c *conversation) requestAnswer(method string, params any) (jsonscan.Value, error) {
	c.id++
	if err := c.sendMessage(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return "", err
	}
	for {
		f, err := c.readFrame()
		switch {
		case err != nil:
			return "", err
		case f.Method != "" || string(f.ID) != strconv.Itoa(c.id): // notifications, requests and other answers are skipped
		case f.Error != nil:
			e := jsonscan.ValueOf(f.Error)
			return "", &refusal{string(e.Member("code")), e.Member("message").Text()}
		default:
			return jsonscan.ValueOf(f.Result), nil
		}
	}
}

func (c *conversation) sendMessage(message any) error {
	if json.NewEncoder(c.to).Encode(message) != nil {
		return errors.New("it ended before it was asked; start it yourself to see why")
	}
	return nil
}

func (c *conversation) readFrame() (frame.Frame, error) {
	line, err := c.from.ReadLine()
	if err == nil {
		var f frame.Frame
		if f, err = frame.Parse(line, frame.DefaultLimits()); err == nil {
			return f, nil
		}
	}
	refused, isLine := errors.AsType[*frame.Refusal](err)
	switch {
	case c.budget.N <= 0:
		return frame.Frame{}, fmt.Errorf("it wrote more than the limit of %d MiB", MaxBytes>>20)
	case isLine:
		return frame.Frame{}, fmt.Errorf("its output is not MCP: %s", refused.Reason)
	}
	return frame.Frame{}, errors.New("it ended before it answered; start it yourself to see why")
}
