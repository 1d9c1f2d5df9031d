// Package mirror copies the file of checkpoints to a remote git repository. It runs the program git. It
// never replaces what the repository already has; the copy only grows.
package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/text/redact"
)

const (
	branch   = "refs/heads/checkpoints"
	fileName = "checkpoints.ndjson"
	timeOut  = time.Minute // maximum duration of one run of git
	maxSaid  = 2000        // maximum bytes kept of git's output
	waitTime = 5 * time.Second
	keptFor  = "10.minutes.ago" // minimum age of an unneeded git object before git prune removes it
)

// CheckRemote returns an error unless remote is an ssh address, an https address or an absolute
// path. It also refuses an address with a password, and an https address with a user name.
func CheckRemote(remote string) error {
	if filepath.IsAbs(remote) {
		return nil
	}
	u, err := url.Parse(remote)
	if err != nil || u.Scheme != "https" && u.Scheme != "ssh" || u.Host == "" || strings.HasPrefix(u.Host, "-") || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is no remote such as ssh://git@HOST/PATH, https://HOST/PATH or /PATH", redact.MaskAddress(remote))
	}
	if _, has := u.User.Password(); has || u.Scheme == "https" && u.User != nil {
		return errors.New("it has a password, or a name that may be a token, which other programs of this machine could see; leave out what stands before the @, and use a credential helper of git (a name: git config --global credential.https://HOST.username NAME), or a key of ssh")
	}
	return nil
}

// Result is the outcome of Push.
type Result struct {
	Commit string // newest commit at the remote after Push
	Before int64  // number of bytes that the remote had before Push
	Now    int64  // number of bytes that the remote has after Push
}

// Mirror copies a file to a remote repository.
type Mirror struct {
	Folder string // folder of a local repository that only Mirror uses; Push makes it if it is missing
	Remote string
}

// ErrOther means that the file does not begin with the remote's copy.
var ErrOther = errors.New("the remote has other checkpoints than the file begins with: the file was cut or changed, or another centre pushes there")

// Push makes the remote's copy equal to the file. The file must begin with the remote's copy.
func (m *Mirror) Push(ctx context.Context, file *os.File) (r Result, err error) {
	info, err := file.Stat()
	if err != nil {
		return r, err
	}
	r.Now = info.Size()
	if _, err := m.run(ctx, nil, "init", "--quiet", "--bare"); err != nil {
		return r, err
	}
	if r.Commit, err = m.fetch(ctx); err != nil {
		return r, err
	}
	parent := []string{}
	if r.Commit != "" {
		parent = []string{"-p", r.Commit}
		if r.Before, err = m.compare(ctx, file, r.Commit, r.Now); err != nil || r.Before == r.Now {
			return r, err
		}
	}
	blob, err := m.run(ctx, io.NewSectionReader(file, 0, r.Now), "hash-object", "-w", "--stdin")
	if err != nil {
		return r, err
	}
	tree, err := m.run(ctx, strings.NewReader("100644 blob "+blob+"\t"+fileName+"\n"), "mktree")
	if err != nil {
		return r, err
	}
	commit, err := m.run(ctx, strings.NewReader(fmt.Sprintf("%d bytes of checkpoints\n", r.Now)), slices.Concat([]string{"commit-tree", tree}, parent)...)
	if err != nil {
		return r, err
	}
	// There is no --force, so git refuses a commit that does not continue the branch. Git also refuses
	// if another push came in between.
	if _, err := m.run(ctx, nil, "push", "--quiet", "--no-verify", "--", m.Remote, commit+":"+branch); err != nil {
		return r, err
	}
	r.Commit = commit
	return r, nil
}

// fetch loads the newest commit of the remote, and returns its hash. It returns "" if the remote has no
// commit. fetch does not load or keep older commits: each contains the whole file, so together they
// would fill the disk.
func (m *Mirror) fetch(ctx context.Context) (commit string, err error) {
	said, err := m.run(ctx, nil, "ls-remote", "--", m.Remote, branch)
	if err != nil || said == "" {
		return "", err
	}
	if _, err := m.run(ctx, nil, "fetch", "--quiet", "--no-tags", "--depth=1", "--", m.Remote, "+"+branch+":"+branch); err != nil {
		return "", err
	}
	// Younger objects may belong to another run.
	if _, err := m.run(ctx, nil, "prune", "--expire="+keptFor); err != nil {
		return "", err
	}
	return m.run(ctx, nil, "rev-parse", "--verify", branch+"^{commit}")
}

// compare returns the number of bytes in a commit's copy. It returns ErrOther if the file does not
// begin with these bytes.
func (m *Mirror) compare(ctx context.Context, file *os.File, commit string, most int64) (size int64, err error) {
	listed, err := m.run(ctx, nil, "ls-tree", "--long", commit, "--", fileName)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(listed) // git ls-tree prints: mode, type, object, size, name
	if len(fields) < 5 || fields[1] != "blob" {
		return 0, fmt.Errorf("%w (it has no file %s)", ErrOther, fileName)
	}
	size, err = strconv.ParseInt(fields[3], 10, 64)
	if err != nil {
		return 0, err
	}
	if size > most {
		return size, ErrOther
	}
	same, err := m.run(ctx, io.NewSectionReader(file, 0, size), "hash-object", "--stdin")
	if err == nil && same != fields[2] {
		err = ErrOther
	}
	return size, err
}

// run runs git in the repository. It returns git's output without blanks and line breaks at both ends.
func (m *Mirror) run(ctx context.Context, in io.Reader, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeOut)
	defer cancel()
	// The user's git configuration applies, because it has keys and credential helpers. The options in
	// fixed turn off everything that runs other programs or asks a person.
	fixed := []string{"--git-dir=" + m.Folder, "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never", "-c", "commit.gpgSign=false", "-c", "push.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(fixed, words)...) //nolint:gosec // without a shell; the remote is that of gateway.toml
	cmd.WaitDelay, cmd.Stdin = waitTime, in
	leaveTerminal(cmd)
	cmd.Env = gitEnvironment(os.Environ())
	out, said := &bounded{most: maxSaid}, &bounded{most: maxSaid}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed; install it with the packages of this system")
	case errors.Is(ctx.Err(), context.Canceled):
		return "", fmt.Errorf("git %s was interrupted; what the remote has by then stays, and the next checkpoint-push goes on", words[0])
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s did not end within %v; try what it does by hand: git ls-remote %s", words[0], timeOut, m.Remote)
	case err != nil:
		return "", fmt.Errorf("git %s: %w: %s", words[0], err, strings.TrimSpace(strings.ReplaceAll(said.text.String(), "\r", "")))
	}
	return strings.TrimSpace(out.text.String()), nil
}

// gitEnvironment returns an environment for git. It removes the variables that could point to another
// repository. It sets variables so that git and ssh ask no person for a password.
func gitEnvironment(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_") && !strings.HasPrefix(entry, "GIT_SSH")
	})
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		all = append(all, "GIT_"+who+"_NAME=clawai-gateway", "GIT_"+who+"_EMAIL=clawai-gateway@localhost")
	}
	return append(all, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "LC_ALL=C")
}

// bounded keeps the beginning of the written text. most is the maximum number of bytes.
type bounded struct {
	text bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), max(b.most-b.text.Len(), 0))])
	return len(p), nil
}
