package wrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/wrap/client"
)

// Hub is the hub's configuration, with the servers that were moved into it.
type Hub struct {
	Into   bool   // Wrap moves servers into the hub
	Config string // path of config.toml
	State  string // clawai's state folder
	// Check returns the reason why a text is not a valid configuration of the hub.
	Check func(src []byte) error

	src     []byte // wanted content of Config; nil: no file
	planned []byte // present content of Config
	moves   []move
	known   []byte // the state's file as it was read
}

// move is one container of a client's file whose servers are in the hub.
type move struct {
	File    string         `json:"file"` // path with symlinks resolved
	Row     string         `json:"row"`
	Hub     []string       `json:"hub"` // key path of the hub's entry
	Servers []movedServer  `json:"servers"`
	Pieces  []client.Piece `json:"pieces"` // texts that were there before
}

// movedServer is one server of a move.
type movedServer struct {
	Name  string `json:"name"`
	Lead  string `json:"lead,omitempty"` // text that addServer put before the table
	Table string `json:"table"`          // text of the table in config.toml
}

func (m move) hasServer(s movedServer) bool {
	return slices.ContainsFunc(m.Servers, func(o movedServer) bool { return o.Name == s.Name && o.Table == s.Table })
}

func movesPath(state string) string { return filepath.Join(state, "wrapped-hub.json") }

// ReadHub reads the moved servers and the hub's configuration. Both files may be missing.
func ReadHub(config, state string) (Hub, error) {
	h := Hub{Config: config, State: state}
	var err error
	if h.src, err = readOrNone(config); err != nil {
		return h, fmt.Errorf("%s: %w", config, err)
	}
	h.planned = h.src
	if h.known, err = readOrNone(movesPath(state)); err != nil || h.known == nil {
		return h, err
	}
	if err := json.Unmarshal(h.known, &h.moves); err != nil {
		return h, fmt.Errorf("%s, which says what clients' files held, cannot be read: %w; put it back from a backup", movesPath(state), err)
	}
	return h, nil
}

func readOrNone(path string) ([]byte, error) {
	src, err := readRegularFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// HasUnsettled reports whether servers of the hub are not where the state expects them: a run
// was interrupted between two files, or somebody changed a file.
func (h *Hub) HasUnsettled(files []ConfigFile) bool { return len(h.settledMoves(files)) < len(h.moves) }

// findMove returns the move of a hub's entry; -1 for an entry that its owner wrote. While more
// servers are moved, there are two moves: the later one counts when the file has none of its
// servers any more.
func (h *Hub) findMove(p *ConfigFile, path []string) int {
	first := -1
	for i, m := range slices.Backward(h.moves) {
		if m.File != p.Real || !slices.Equal(m.Hub, path) {
			continue
		}
		if first = i; !slices.ContainsFunc(m.Servers, func(s movedServer) bool { return p.hasEntry(m.serverPath(s), nil) }) {
			break
		}
	}
	return first
}

func (m move) serverPath(s movedServer) []string {
	return append(slices.Clone(m.Hub[:len(m.Hub)-1]), s.Name)
}

// settledMoves returns the moves that are in effect, and those whose servers are nowhere else.
// When the client's file has its own servers and no hub, the move was not finished or was
// undone.
func (h *Hub) settledMoves(files []ConfigFile) (left []move) {
	for n, m := range h.moves {
		hub, seen, other := false, false, false
		for i := range files {
			if p := &files[i]; p.Real == m.File && p.Err == nil {
				seen = seen || p.Row.ID == m.Row
				if p.hasEntry(m.Hub, func(e client.Entry) bool { return e.Wrapped != nil && e.Wrapped.Hub }) {
					hub, other = true, h.findMove(p, m.Hub) != n
				}
			}
		}
		if other {
			continue
		}
		own := !slices.ContainsFunc(m.Servers, func(s movedServer) bool {
			return !slices.ContainsFunc(files, func(p ConfigFile) bool {
				return p.Real == m.File && p.Err == nil && p.hasEntry(m.serverPath(s), nil)
			})
		})
		if hub || !seen || !own {
			left = append(left, m)
		}
	}
	return left
}

// hasEntry reports whether an entry is at a key path and is returns true for it. A nil is
// accepts any entry.
func (p *ConfigFile) hasEntry(path []string, is func(client.Entry) bool) bool {
	return slices.ContainsFunc(p.Entries, func(e client.Entry) bool {
		return slices.Equal(e.KeyPath, path) && (is == nil || is(e))
	})
}

// ForgetUnsettled drops moves that are not in effect, before servers are moved again.
func (h *Hub) ForgetUnsettled(files []ConfigFile) {
	left := h.settledMoves(files)
	h.src, _ = h.pruneConfig(left)
	h.moves = left
}

// FindLost returns a text for each client's file that lost the hub's entry, and its servers
// with it.
func (h *Hub) FindLost(files []ConfigFile) (all []string) {
	for _, m := range h.settledMoves(files) {
		for i := range files {
			p := &files[i]
			if p.Real == m.File && p.Err == nil && p.Row.ID == m.Row && !p.hasEntry(m.Hub, nil) {
				all = append(all, fmt.Sprintf("%s: the hub's entry is gone, and with it %s; write an entry %q that starts clawai with the argument hub, then run: clawai unwrap", p.Path, m.serverNames(), client.HubName))
			}
		}
	}
	return all
}

func (m move) serverNames() string {
	names := make([]string, len(m.Servers))
	for i, s := range m.Servers {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// findDifferences returns how a hub's entry fails to start the servers that were moved out of
// its file.
func (h *Hub) findDifferences(p *ConfigFile, e client.Entry) (all []string) {
	entries, err := client.Read(client.HubRow(), h.src)
	if err != nil {
		return []string{fmt.Sprintf("%s cannot be read: %v", h.Config, err)}
	}
	missing := func(name string) bool {
		return !slices.ContainsFunc(entries, func(e client.Entry) bool { return e.Name == name })
	}
	wanted := slices.Clone(e.Wrapped.Only)
	if i := h.findMove(p, e.KeyPath); i >= 0 {
		for _, s := range h.moves[i].Servers {
			if !slices.Contains(wanted, s.Name) {
				wanted = append(wanted, s.Name)
			}
		}
	}
	for _, name := range wanted {
		if missing(name) {
			all = append(all, fmt.Sprintf("%s has no [upstream.%s]; clawai unwrap gives the servers back to the client", h.Config, name))
		}
	}
	return all
}

// pruneConfig removes from the configuration the servers that no remaining move has. A table
// that its owner has changed since stays.
func (h *Hub) pruneConfig(left []move) (config []byte, changed []string) {
	config = h.src
	for _, m := range h.moves {
		for _, s := range m.Servers {
			if slices.ContainsFunc(left, func(o move) bool { return o.hasServer(s) }) {
				continue
			}
			found := false
			for _, text := range []string{s.Lead + s.Table, s.Table} {
				if after, ok := client.HubWithout(config, s.Name, text); ok && !found {
					config, found = after, true
				}
			}
			if entries, err := client.Read(client.HubRow(), config); !found && (err != nil || slices.ContainsFunc(entries, func(e client.Entry) bool { return e.Name == s.Name })) {
				changed = append(changed, s.Name)
			}
		}
	}
	return config, changed
}

// saveMoves writes the state; without moves it removes the file.
func (h *Hub) saveMoves(moves []move) error {
	if len(moves) == 0 {
		if err := os.Remove(movesPath(h.State)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if h.known == nil && pathExists(movesPath(h.State)) { // another run has started since, and the file holds the servers that it moved
		return fmt.Errorf("%s: %w; run the command again", movesPath(h.State), atomicfile.ErrChanged)
	}
	src, err := json.MarshalIndent(moves, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(movesPath(h.State), append(src, '\n'), atomicfile.Options{Mode: 0o600, Old: h.known})
}

// newChange returns the change of the configuration, for people to see and ApplyChanges to
// write.
func (h *Hub) newChange(op Op, before, after []byte) Change {
	c := Change{Op: op, Path: h.Config, Real: realFolder(h.Config), Before: before, After: after, Absent: before == nil, Gone: len(after) == 0}
	if real, err := filepath.EvalSymlinks(h.Config); err == nil {
		c.Real = real
	}
	c.Edits = []Edit{{Row: client.HubRow(), Entry: client.Entry{Name: client.HubName}}}
	return c
}

// PreviewConfig returns the effect of an operation with these changes on the configuration;
// nil: none.
func (h *Hub) PreviewConfig(op Op, changes []Change) *Change {
	before, after := h.planned, h.src
	if op == Unwrap {
		var left []move
		for _, m := range h.moves {
			gone := slices.ContainsFunc(changes, func(c Change) bool {
				return c.Real == m.File && slices.ContainsFunc(c.Edits, func(e Edit) bool { return slices.Equal(e.Entry.KeyPath, m.Hub) })
			})
			if !gone {
				left = append(left, m)
			}
		}
		after, _ = h.pruneConfig(left)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	c := h.newChange(op, before, after)
	return &c
}

// LockRuns makes other runs wait from BeginMoves to SettleMoves. A move that is written down
// but not yet taken out of its client's file looks like the rest of an interrupted run.
func (h *Hub) LockRuns(ctx context.Context, o Options) (unlock func(), err error) {
	return lockFile(ctx, o, movesPath(h.State)+" run")
}

// BeginMoves writes the planned moves and the configuration. The clients' files come next.
// After a crash in between, they still hold their servers, and SettleMoves undoes the moves.
func (h *Hub) BeginMoves(ctx context.Context, o Options) error {
	unlock, err := lockFile(ctx, o, movesPath(h.State))
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.saveMoves(h.moves); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	o.passPoint("moves saved")
	if bytes.Equal(h.planned, h.src) {
		return nil
	}
	if err := os.Chmod(h.Config, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // the servers' environment and headers may be secret
		return err
	}
	err = errors.Join(ApplyChanges(ctx, []Change{h.newChange(Wrap, h.planned, h.src)}, o)...)
	o.passPoint("configured")
	return err
}

// SettleMoves makes the state and the configuration agree with the clients' files, after an
// unwrap or an interrupted run. It returns the names of tables that stay because their owner
// has changed them.
func (h *Hub) SettleMoves(ctx context.Context, files []ConfigFile, o Options) (changed []string, err error) {
	unlock, err := lockFile(ctx, o, movesPath(h.State))
	if err != nil {
		return nil, err
	}
	defer unlock()
	now, err := ReadHub(h.Config, h.State)
	if err != nil {
		return nil, err
	}
	left := now.settledMoves(files)
	if len(left) == len(now.moves) {
		return nil, nil
	}
	if _, err := client.Read(client.HubRow(), now.src); err != nil { // a configuration that cannot be read must not be edited
		return nil, fmt.Errorf("%s: %w", now.Config, err)
	}
	after, changed := now.pruneConfig(left)
	if !bytes.Equal(after, now.src) {
		if err := errors.Join(ApplyChanges(ctx, []Change{now.newChange(Unwrap, now.src, after)}, o)...); err != nil {
			return nil, err
		}
	}
	return changed, now.saveMoves(left)
}
