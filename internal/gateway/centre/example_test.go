package centre

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The example that the packages bring says nothing. Once its # are gone, it serves a public centre.
func TestTheExampleOfPackages(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../../../packaging/gateway/gateway.toml")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) Settings {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SettingsFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSettings(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := read(src); s.URL != "" || len(s.Roles) > 0 || s.CheckPublic() == nil {
		t.Errorf("as it comes, it says %+v", s)
	}
	key := regexp.MustCompile(`(?m)^#bundle_keys = .*$`)
	if !key.Match(src) {
		t.Error("it has no bundle_keys")
	}
	filled := regexp.MustCompile(`(?m)^#(\w|\[)`).ReplaceAll(key.ReplaceAll(src, nil), []byte("$1"))
	if s := read(filled); s.CheckPublic() != nil || s.Database == "" || len(s.Roles) != 2 || s.OIDC.SecretFile == "" {
		t.Errorf("filled in, it says %+v: %v", s, s.CheckPublic())
	}
}
