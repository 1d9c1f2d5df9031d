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

// Hub is the hub's configuration. It also knows which servers were moved from clients' files into
// the hub.
type Hub struct {
	Into   bool   // Wrap moves servers into the hub
	Config string // path of config.toml
	State  string // clawai's state folder
	// Check returns the reason why a text is no valid configuration of the hub; nil if it is valid.
	Check func(src []byte) error

	src     []byte // new content of Config; nil: no file
	present []byte // content of Config when it was read; nil: no file
	moves   []move
	known   []byte // content of the file with the moves when it was read; nil: no file
}

// move describes servers that were moved into the hub from one container in a client's file.
type move struct {
	File    string         `json:"file"` // path without symlinks
	Row     string         `json:"row"`
	Hub     []string       `json:"hub"` // key path of the hub's entry in the file
	Servers []movedServer  `json:"servers"`
	Pieces  []client.Piece `json:"pieces"` // the texts that were taken out of the file
}

// movedServer is one server of a move.
type movedServer struct {
	Name  string `json:"name"`
	Lead  string `json:"lead,omitempty"` // line ends that addServer put before the table
	Table string `json:"table"`          // text of the table in config.toml
}

func (m move) hasServer(s movedServer) bool {
	return slices.ContainsFunc(m.Servers, func(o movedServer) bool { return o.Name == s.Name && o.Table == s.Table })
}

func movesPath(state string) string { return filepath.Join(state, "wrapped-hub.json") }

// ReadHub reads the list of moved servers and the hub's configuration. Both files may be missing.
func ReadHub(config, state string) (Hub, error) {
	h := Hub{Config: config, State: state}
	var err error
	if h.src, err = readOrNone(config); err != nil {
		return h, fmt.Errorf("%s: %w", config, err)
	}
	h.present = h.src
	if h.known, err = readOrNone(movesPath(state)); err != nil || h.known == nil {
		return h, err
	}
	if err := json.Unmarshal(h.known, &h.moves); err != nil {
		return h, fmt.Errorf("%s, the list of servers that were moved out of clients' files, cannot be read: %w; put it back from a backup", movesPath(state), err)
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

// HasUnsettled reports whether some servers of the hub are not where the moves say. This happens if
// a run was interrupted before it had written all files, or if somebody changed a file.
func (h *Hub) HasUnsettled(files []ConfigFile) bool { return len(h.settledMoves(files)) < len(h.moves) }

// findMove returns the index of the move that belongs to the hub's entry in a file; -1 if the owner
// wrote the entry. While a run adds servers to a hub, the entry has two moves. The earlier move
// belongs to the entry until all servers of the later move are gone from the client's file.
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

// settledMoves returns the moves that are in effect, and the moves whose servers are only in the
// hub. It leaves out a move if the client's file has the servers and no hub, because that move was
// not finished, or was undone.
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

// hasEntry reports whether the file has an entry with this key path. If the parameter accepts is
// not nil, the entry e counts only if accepts(e) is true.
func (p *ConfigFile) hasEntry(path []string, accepts func(client.Entry) bool) bool {
	return slices.ContainsFunc(p.Entries, func(e client.Entry) bool {
		return slices.Equal(e.KeyPath, path) && (accepts == nil || accepts(e))
	})
}

// ForgetUnsettled drops the moves that are not in effect. Call it before servers are moved again.
func (h *Hub) ForgetUnsettled(files []ConfigFile) {
	left := h.settledMoves(files)
	h.src, _ = h.pruneConfig(left)
	h.moves = left
}

// FindLost returns a message for each client's file that no longer has the hub's entry. The client
// has then lost the servers of the hub.
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

// findDifferences returns a message for each server that the hub's entry should start but that the
// hub's configuration does not have.
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

// pruneConfig returns the configuration after the end of some moves. It removes the servers of
// these moves, unless one of the given moves, which stay, has the server too. A table that the
// owner has changed stays too, and the second result contains the name of its server.
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

// saveMoves writes the file with the moves. If there are no moves, it removes the file.
func (h *Hub) saveMoves(moves []move) error {
	if len(moves) == 0 {
		if err := os.Remove(movesPath(h.State)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if h.known == nil && pathExists(movesPath(h.State)) { // another run has created the file in the meantime
		return fmt.Errorf("%s: %w; run the command again", movesPath(h.State), atomicfile.ErrChanged)
	}
	src, err := json.MarshalIndent(moves, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(movesPath(h.State), append(src, '\n'), atomicfile.Options{Mode: 0o600, Old: h.known})
}

// newChange returns the change of the configuration, for people and for ApplyChanges.
func (h *Hub) newChange(op Op, before, after []byte) Change {
	c := Change{Op: op, Path: h.Config, Real: realFolder(h.Config), Before: before, After: after, Absent: before == nil, Gone: len(after) == 0}
	if real, err := filepath.EvalSymlinks(h.Config); err == nil {
		c.Real = real
	}
	c.Edits = []Edit{{Row: client.HubRow(), Entry: client.Entry{Name: client.HubName}}}
	return c
}

// PreviewConfig returns the change of the configuration that an operation with these changes will
// make; nil if it makes none.
func (h *Hub) PreviewConfig(op Op, changes []Change) *Change {
	before, after := h.present, h.src
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

// LockRuns locks out other runs until the caller calls unlock. A run keeps the lock from BeginMoves
// to SettleMoves, because in this time the files look as if a run had been interrupted.
func (h *Hub) LockRuns(ctx context.Context, o Options) (unlock func(), err error) {
	return lockFile(ctx, o, movesPath(h.State)+" run")
}

// BeginMoves writes the moves and the configuration. The caller writes the clients' files after
// that. If a crash comes in between, the clients' files still have their servers, and SettleMoves
// undoes the moves.
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
	if bytes.Equal(h.present, h.src) {
		return nil
	}
	if err := os.Chmod(h.Config, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // the environment and headers of servers may be secret
		return err
	}
	err = errors.Join(ApplyChanges(ctx, []Change{h.newChange(Wrap, h.present, h.src)}, o)...)
	o.passPoint("configured")
	return err
}

// SettleMoves makes the moves and the configuration agree with the clients' files, after an unwrap
// or an interrupted run. changed has the names of servers whose tables stay because the owner has
// changed them.
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
	if _, err := client.Read(client.HubRow(), now.src); err != nil { // a configuration that cannot be read is not edited
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
