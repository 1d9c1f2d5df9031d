package oauth_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/clawai/clawai/internal/state/keychain"
	"github.com/clawai/clawai/internal/state/oauth"
)

func stores(t *testing.T) (oauth.Keychain, oauth.Files) {
	dir := t.TempDir()
	private := func(d string) error { return os.MkdirAll(d, 0o700) }
	return oauth.Keychain{Keychain: keychain.Keychain{Service: "clawai", Index: filepath.Join(dir, "keychain.json"), Dir: dir, Private: private}},
		oauth.Files{Dir: filepath.Join(dir, "files"), Private: private}
}

func TestKeychain(t *testing.T) {
	keyring.MockInit()
	k, _ := stores(t)
	for _, server := range []string{"https://a/", "https://b/", "https://a/"} {
		if err := k.Save(oauth.StoredSignIn{Server: server, AccessToken: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := k.List(); len(all) != 2 || err != nil {
		t.Error(all, err)
	}
	if err := k.Delete("https://a/"); err != nil {
		t.Error(err)
	}
	if _, err := k.Load("https://a/"); !errors.Is(err, oauth.ErrNone) {
		t.Error(err)
	}
	if index, err := os.ReadFile(k.Index); err != nil || string(index) != `["https://b/"]` {
		t.Error(string(index), err)
	}
}

// Without a keychain the files serve, and an entry is found wherever it is.
func TestEither(t *testing.T) {
	k, f := stores(t)
	both := oauth.Either{k, f}
	keyring.MockInitWithError(errors.New("no desktop"))
	if err := both.Save(oauth.StoredSignIn{Server: "https://a/", AccessToken: "1"}); err != nil {
		t.Fatal(err)
	}
	if e, err := both.Load("https://a/"); err != nil || e.AccessToken != "1" {
		t.Error(e, err)
	}
	keyring.MockInit()
	if err := both.Save(oauth.StoredSignIn{Server: "https://a/", AccessToken: "2"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Load("https://a/"); err != nil || e.AccessToken != "2" {
		t.Error("the entry moved:", e, err)
	}
	if err := both.Save(oauth.StoredSignIn{Server: "https://b/"}); err != nil {
		t.Fatal(err)
	}
	if all, err := both.List(); len(all) != 2 || err != nil {
		t.Error(all, err)
	}
	if err := k.SetText("https://b/", "{}"); err != nil {
		t.Fatal(err)
	}
	if all, err := both.List(); len(all) != 1 || err == nil || !strings.Contains(err.Error(), "https://b/ in the system's keychain: the stored sign-in cannot be read (it names no server); run: clawai auth logout https://b/") {
		t.Error(all, err)
	}
	for _, server := range []string{"https://a/", "https://b/"} {
		if err := both.Delete(server); err != nil {
			t.Error(err)
		}
	}
	if err := both.Delete("https://a/"); !errors.Is(err, oauth.ErrNone) {
		t.Error(err)
	}
	if err := both.Save(oauth.StoredSignIn{Server: "https://c/"}); err != nil {
		t.Fatal(err)
	}
	keyring.MockInitWithError(errors.New("no desktop"))
	if _, err := both.Load("https://c/"); err == nil || errors.Is(err, oauth.ErrNone) {
		t.Error("a keychain that cannot be read says that nothing is there:", err)
	}
	if _, err := both.Load("https://d/"); !errors.Is(err, oauth.ErrNone) {
		t.Error("the keychain was asked for nothing:", err)
	}
	if err := both.Delete("https://c/"); err == nil || errors.Is(err, oauth.ErrNone) {
		t.Error("a keychain that cannot be written says that nothing was there:", err)
	}
	if err := both.Delete("https://d/"); !errors.Is(err, oauth.ErrNone) {
		t.Error("signed in nowhere, and told of the keychain:", err)
	}
}
