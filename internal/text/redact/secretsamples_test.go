package redact

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// samples are what vendors' keys look like, as others have written it down (the
// public rules of gitleaks, MIT, and the vendors' own pages), and so apart from the
// table that finds them.
var samples = []string{
	`clw_[a-km-np-z2-9]{12}_[a-zA-Z0-9_-]{42}[0-9]`,
	`clp_[a-zA-Z0-9_-]{42}[0-9]`,
	`A3-[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, `A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`,
	`ops_eyJ[a-zA-Z0-9+/]{250,300}={0,3}`, `p8e-[a-z0-9]{32}`, `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`,
	`pat[a-zA-Z0-9]{13}[0-9]\.[a-f0-9]{64}`, `LTAI[a-z0-9]{19}[0-9]`, `sk-ant-admin01-[a-zA-Z0-9_\-]{93}AA`, `sk-ant-api03-[a-zA-Z0-9_\-]{93}AA`,
	`AKCp[A-Za-z0-9]{69}`, `cmVmd[A-Za-z0-9]{58}[0-9]`, `(sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}`,
	`A3T[A-Z0-9][A-Z2-7]{16}`, `AKIA[A-Z2-7]{16}`, `ASIA[A-Z2-7]{15}[2-7]`, `ABIA[A-Z2-7]{15}[2-7]`, `ACCA[A-Z2-7]{15}[2-7]`,
	`ABSK[A-Za-z0-9+/]{109,269}={0,2}`, `bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9]{20}`, `[a-zA-Z0-9]{3}[0-9]Q~[a-zA-Z0-9_~.\-]{31,34}`,
	`4b1d[A-Za-z0-9]{38}`, `CLOJARS_[a-z0-9]{60}`, `v1\.0-[a-f0-9]{24}-[a-f0-9]{146}`, `dapi[a-f0-9]{32}(-[0-9])?`, `doo_v1_[a-f0-9]{64}`, `dop_v1_[a-f0-9]{64}`, `dor_v1_[a-f0-9]{64}`,
	`dp\.pt\.[a-zA-Z0-9]{42}[0-9]`, `dp\.st\.dev\.[a-zA-Z0-9]{42}[0-9]`, `duffel_(test|live)_[a-z0-9_\-=]{43}`, `dt0c01\.[a-z0-9]{24}\.[a-z0-9]{64}`, `EZAK[a-z0-9]{54}`, `EZTK[a-z0-9]{54}`,
	`[0-9]{15,16}\|[0-9a-z\-_]{27,40}`, `EAA[MC][a-z0-9]{100,120}`, `FLWSECK_TEST-[a-h0-9]{11}[0-9]`, `FLWPUBK_TEST-[a-h0-9]{32}-X`, `FLWSECK_TEST-[a-h0-9]{31}[0-9]-X`,
	`fo1_[a-zA-Z0-9_-]{43}`, `fm1[ar]_[a-zA-Z0-9+/]{100,140}={0,3}`, `fm2_[a-zA-Z0-9+/]{100,140}={0,3}`, `fio-u-[a-z0-9\-_=]{64}`,
	`AIza[a-zA-Z0-9_-]{35}`, `ya29\.[a-zA-Z0-9_-]{60,120}`, `GOCSPX-[a-zA-Z0-9_-]{28}`, `ghu_[0-9a-zA-Z]{36}`, `ghs_[0-9a-zA-Z]{36}`, `github_pat_[a-zA-Z0-9_]{82}`, `gho_[0-9a-zA-Z]{36}`, `ghp_[0-9a-zA-Z]{36}`, `ghr_[0-9a-zA-Z]{36}`,
	`glcbt-[0-9a-zA-Z]{1,5}_[0-9a-zA-Z_-]{20}`, `gldt-[0-9a-zA-Z_\-]{20}`, `glffct-[0-9a-zA-Z_\-]{20}`, `glft-[0-9a-zA-Z_\-]{20}`, `glimt-[0-9a-zA-Z_\-]{25}`, `glagent-[0-9a-zA-Z_\-]{50}`,
	`gloas-[0-9a-zA-Z_\-]{64}`, `glpat-[0-9a-zA-Z_-]{20}`, `glpat-[0-9a-zA-Z_-]{27,300}\.[0-9a-z]{2}[0-9a-z]{7}`, `glptt-[0-9a-f]{40}`, `GR1348941[0-9a-zA-Z_-]{20}`, `glrt-[0-9a-zA-Z_\-]{20}`, `glrt-t[0-9]_[0-9a-zA-Z_\-]{27,300}\.[0-9a-z]{2}[0-9a-z]{7}`,
	`glsoat-[0-9a-zA-Z_\-]{20}`, `_gitlab_session=[0-9a-z]{32}`, `eyJrIjoi[A-Za-z0-9]{70,400}={0,3}`, `glc_[A-Za-z0-9+/]{32,400}={0,3}`, `glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`,
	`(pat|sat)\.[a-zA-Z0-9_-]{22}\.[a-zA-Z0-9]{24}\.[a-zA-Z0-9]{19}[0-9]`, `[a-z0-9]{14}\.atlasv1\.[a-z0-9\-_=]{60,70}`, `HRKU-AA[0-9a-zA-Z_-]{58}`, `hf_[a-zA-Z]{34}`, `api_org_[a-zA-Z]{34}`, `ico-[a-zA-Z0-9]{31}[0-9]`,
	`s-s4t2(ud|af)-[abcdef0123456789]{64}`, `eyJ[a-zA-Z0-9]{17,60}\.eyJ[a-zA-Z0-9_-]{17,60}\.[a-zA-Z0-9_-]{20,60}`, `ZXlK[a-zA-Z0-9+/]{70,200}0`, `lin_api_[a-z0-9]{40}`, `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`,
	`webhook\.office\.com/webhookb2/[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}@[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}`,
	`ntn_[0-9]{11}[A-Za-z0-9]{35}`, `secret_[A-Za-z0-9]{42}[0-9]`, `npm_[a-z0-9]{36}`, `API-[A-Z0-9]{25}[0-9]`, `sk-(proj|svcacct|admin)-[A-Za-z0-9_-]{57}[0-9]T3BlbkFJ[A-Za-z0-9_-]{58}`, `sk-[a-zA-Z0-9]{19}[0-9]T3BlbkFJ[a-zA-Z0-9]{20}`,
	`sha256~[a-zA-Z0-9_-]{43}`, `pplx-[a-zA-Z0-9]{48}`, `pscale_tkn_[a-zA-Z0-9=._-]{32,64}`, `pscale_oauth_[a-zA-Z0-9=._-]{32,64}`, `pscale_pw_[a-zA-Z0-9=._-]{32,64}`, `PMAK-[a-f0-9]{24}-[a-f0-9]{34}`, `pnu_[a-zA-Z0-9]{36}`,
	`pul-[a-f0-9]{40}`, `pypi-AgEIcHlwaS5vcmc[a-zA-Z0-9_-]{50,300}`, `rdme_[a-z0-9]{70}`, `rubygems_[a-f0-9]{48}`, `tk-us-[a-zA-Z0-9_-]{48}`, `SG\.[a-zA-Z0-9=_\-.]{66}`, `xkeysib-[a-f0-9]{64}-[a-z0-9]{16}`,
	`sntrys_eyJpYXQiO[a-zA-Z0-9+/]{10,200}LCJyZWdpb25fdXJs[a-zA-Z0-9+/]{10,200}={0,2}_[a-zA-Z0-9+/]{43}`, `sntryu_[a-f0-9]{64}`, `sm_aat_[a-zA-Z0-9]{16}`, `sm_pat_[a-zA-Z0-9]{16}`, `sm_sat_[a-zA-Z0-9]{16}`,
	`shippo_(live|test)_[a-fA-F0-9]{40}`, `shpat_[a-fA-F0-9]{32}`, `shpca_[a-fA-F0-9]{32}`, `shppa_[a-fA-F0-9]{32}`, `shpss_[a-fA-F0-9]{32}`, `xapp-[0-9]-[A-Z0-9]{8,12}-[0-9]{10,13}-[a-z0-9]{20,64}`, `xoxb-[0-9]{10,13}-[0-9]{10,13}[a-zA-Z0-9-]{24}`,
	`xoxe\.xox[bp]-[0-9]-[A-Z0-9]{163,166}`, `xoxe-[0-9]-[A-Z0-9]{146}`, `xoxb-[0-9]{8,14}-[a-zA-Z0-9]{18,26}`, `xox[os]-[0-9]{8,12}-[0-9]{8,12}-[0-9]{8,12}-[a-fA-F0-9]{20,30}`, `xox[ar]-([0-9]-)?[0-9a-zA-Z]{12,48}`, `xox[pe](-[0-9]{10,13}){3}-[a-zA-Z0-9]{28,34}`,
	`hooks\.slack\.com/(services|workflows|triggers)/[A-Za-z0-9+/]{43,56}`, `sgp_([a-fA-F0-9]{16}|local)_[a-fA-F0-9]{39}[0-9]`, `sgp_[a-fA-F0-9]{39}[0-9]`, `EAAA[a-zA-Z0-9_-]{40,59}[0-9]`, `sq0atp-[a-zA-Z0-9_-]{22,60}`,
	`(sk|rk)_(test|live|prod)_[a-zA-Z0-9]{10,99}`, `SK[0-9a-f]{32}`, `hvb\.[a-zA-Z0-9_-]{138,300}`, `hvs\.[a-zA-Z0-9_-]{90,120}`,
	`[0-9]{8,10}:AA[a-zA-Z0-9_-]{33}`, `[MNO][a-zA-Z0-9]{23,25}\.[a-zA-Z0-9_-]{6}\.[a-zA-Z0-9_-]{27,38}`, `[a-zA-Z0-9_-]{11}:APA91b[a-zA-Z0-9_-]{134}`, `[0-9a-f]{32}-us[0-9]{1,2}`, `key-[0-9a-f]{32}`,
	`dckr_pat_[a-zA-Z0-9_-]{27}`, `dckr_oat_[a-zA-Z0-9_-]{32}`, `NRAK-[A-Z0-9]{27}`, `figd_[a-zA-Z0-9_-]{40}`, `tskey-auth-[a-zA-Z0-9]{10,14}-[a-zA-Z0-9]{20,32}`, `gsk_[a-zA-Z0-9]{52}`, `r8_[a-zA-Z0-9]{37}`, `xai-[a-zA-Z0-9]{80}`, `sbp_[a-f0-9]{40}`, `sb_secret_[a-zA-Z0-9_-]{31}`,
	`ATATT3[a-zA-Z0-9_\-=]{180}`, `ATBB[a-zA-Z0-9]{31}[0-9]`, `whsec_[a-zA-Z0-9]{32}`, `discord\.com/api/webhooks/[0-9]{18}/[a-zA-Z0-9_-]{68}`, `pat-na1-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	`rzp_live_[a-zA-Z0-9]{14}`, `nfp_[a-zA-Z0-9]{36}`, `CCIPAT_[a-zA-Z0-9]{22}_[a-f0-9]{40}`, `pcsk_[a-zA-Z0-9]{5}_[a-zA-Z0-9]{60}`, `lsv2_pt_[a-f0-9]{32}_[a-f0-9]{10}`, `squ_[a-f0-9]{40}`,
}

// places are those that a key is found in.
var places = []string{
	"SAMPLE", "the key SAMPLE, is old", "\tSAMPLE\n", "(SAMPLE)", "'SAMPLE'", "`SAMPLE`", "x=SAMPLE", "Authorization: Bearer SAMPLE", "Bearer SAMPLE", "X-Some: SAMPLE",
	"https://example.com/x?a=1&b=SAMPLE&c=2", "https://example.com/SAMPLE", `{"a": "SAMPLE"}`, `{\"a\": \"line\nSAMPLE\"}`, "a%3DSAMPLE", "echo SAMPLE | tool --stdin",
}

func TestKeysAreKeptOutByTheirShape(t *testing.T) {
	slow.Test(t)
	if len(samples) < 120 {
		t.Fatalf("%d samples", len(samples))
	}
	for _, pattern := range samples {
		rapid.Check(t, func(rt *rapid.T) {
			sample := rapid.StringMatching(pattern).Draw(rt, "sample")
			text := strings.Replace(rapid.SampledFrom(places).Draw(rt, "place"), "SAMPLE", sample, 1)
			quoted, err := json.Marshal(map[string]any{"text": text, "list": []string{text}})
			if err != nil {
				t.Fatal(err)
			}
			r := New(Redacted, testKey)
			args, _ := r.AppendJSON(nil, quoted)
			raw := string(r.AppendString(args, text))
			for _, part := range []string{sample[len(sample)-9:], sample[len(sample)/2-4 : len(sample)/2+5]} {
				if inJSON, _ := json.Marshal(part); strings.Contains(raw, part) || strings.Contains(raw, strings.Trim(string(inJSON), `"`)) {
					rt.Fatalf("%s\nkeeps %q: %s", text, part, raw)
				}
			}
		})
	}
}

// Secrets of command lines, with what is kept.
func TestKeysOfCommandLines(t *testing.T) {
	const secret = "hunter" + "2x"
	for _, c := range []struct{ text, kept string }{
		{"curl -u me:SECRET https://h/x", "curl -u me:[redacted:password:8] https://h/x"},
		{"curl -s --user me:SECRET https://h", "curl -s --user me:[redacted:password:8] https://h"},
		{"curl --user=me:SECRET https://h", "curl --user=me:[redacted:password:8] https://h"},
		{`/usr/bin/curl -u "me:SECRET" https://h`, `/usr/bin/curl -u "me:[redacted:password:8]" https://h`},
		{"cd x && curl -u 'me:SECRET' h", "cd x && curl -u 'me:[redacted:password:8]' h"},
		{"curl -U p:SECRET -x proxy h", "curl -U p:[redacted:password:8] -x proxy h"},
		{"http -a me:SECRET GET h", "http -a me:[redacted:password:8] GET h"},
		{"mysql -u root -pSECRET db", "mysql -u root -p[redacted:password:8] db"},
		{"mysqldump -pSECRET db > x", "mysqldump -p[redacted:password:8] db > x"},
		{"sshpass -p SECRET ssh me@h", "sshpass -p [redacted:password:8] ssh me@h"},
		{"docker login -u me -p SECRET r.io", "docker login -u me -p [redacted:password:8] r.io"},
		{"redis-cli -h x -a SECRET ping", "redis-cli -h x -a [redacted:password:8] ping"},
		{"sqlcmd -S h -P SECRET -Q x", "sqlcmd -S h -P [redacted:password:8] -Q x"},
		{"smbclient //h/s -U me%SECRET", "smbclient //h/s -U me%[redacted:password:8]"},
		{"wget --password SECRET h", "wget --password [redacted:password:8] h"},
		{"wget --http-password=SECRET h", "wget --http-password=[redacted:password:8] h"},
		{"psql postgres://me:SECRET@h/db", "psql postgres://me:[redacted:password:8]@h/db"},
		{"'secret_key' => 'SECRET'", "'secret_key' => '[redacted:value:8]'"},
	} {
		text := strings.Replace(c.text, "SECRET", secret, 1)
		if got := ScrubText(text); got != c.kept {
			t.Errorf("%s\nis kept as %s", text, got)
		}
	}
	for _, args := range []string{
		`{"command":"curl","args":["-s","-u","me:SECRET","https://h"]}`, `{"argv":["curl","-u","me:SECRET"]}`, `["curl","--user","me:SECRET"]`,
		`["mysql","-pSECRET","db"]`, `["sshpass","-p","SECRET","ssh"]`, `{"command":"/usr/bin/redis-cli","args":["-a","SECRET"]}`, `["bash","-c","curl -u me:SECRET h"]`,
	} {
		text := strings.Replace(args, "SECRET", secret, 1)
		if got := string(ScrubJSON([]byte(text))); strings.Contains(got, secret) || !IsRedacted(got) {
			t.Errorf("%s\nis kept as %s", text, got)
		}
	}
}

// What looks a little like a key, and is none.
func TestWordsThatBeginLikeKeys(t *testing.T) {
	for _, text := range []string{
		"docker run -u 1000:1000 -p 8080:80 image", "docker run -p 127.0.0.1:8080:80 nginx", "curl -u $USER:$PASS h", "curl -u me h", "ls -u a:b", "mysql -p db", "mkdir -p a/b/c", "cp -p a b",
		"ssh -p 2222 me@h", "tar -U x:y", "psql -U me -d db", "grep -a pattern", "git push -u origin main:main", "7z x -o/tmp a.7z", "npm_config_registry", "npm_lifecycle_event", "hf_transfer", "hf_hub_download",
		"pat-a-cake", "pattern.matching", "path.to.something", "secret_manager_service_account_name", "secret_key_base", "sk-learn", "SKILL", "SKETCH", "SKU", "API-DOCUMENTATION", "API-KEYS-AND-TOKENS", "key-value", "key-frames",
		"dp.width", "sl.length", "s.length", "s.getSomethingWithALongName()", "s.abcdefghijklmnopqrstuvwx", "sat.morning", "pat.example", "mfa.enabled", "v1.0-beta", "v1.0-rc.1", "A3-size paper", "A3T", "dapi", "dapibus", "EAA", "EAAA", "EZAK",
		"access-production-database", "rnd_state", "fo1_test", "ext_modules", "sc_clk_tck", "scauth_", "api_org_name", "tk-us-east", "pul-stream", "xai-models", "ico-image", "glc_", "phx_new", "AKIA", "LTAI", "ATBB", "SG.", "ops_eyJ", "mailto:x@y.z",
		"sha256:" + hex40 + hex40[:24], "sha256-" + hex40, hex40 + hex40[:24], hex40, "123e4567-e89b-12d3-a456-426614174000", "https://hooks.slack.com/docs", "https://discord.com/developers/docs", "2026-11-22T10:11:12.345Z", "a|b|c", "| 12 | 34 |",
		"10.0.0.1:8080", "12345678:90", "x~y", "~/projects/a~b", "HEAD~3", "Q~A", "www.example.com.", "a.b.c.d.e.f", "com.example.some.package.Name", "key-" + hex40, "us-east-1", "en-us1", "file_mmk", "1.2.3-us1",
		"The quick brown fox; e.g. this, i.e. that... and so on.", "func (r *redactor) text(dst, s, whole []byte) []byte {", "for i := range shapes { t[i] |= 1 << 3 }", "SELECT a.b, c.d FROM e.f WHERE g = 'h' AND i LIKE '%j'",
	} {
		if got := ScrubText(text); got != text {
			t.Errorf("%s\nis kept as %s", text, got)
		}
	}
}

// TestOrdinaryTextsAreKept: of the texts that a machine has anyway, none loses a word
// to a shape.
func TestOrdinaryTextsAreKept(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, lines := 0, 0
	var found []string
	for _, dir := range []string{"src/strings", "src/net/http", "src/encoding", "src/go", "src/os", "src/crypto/tls", "doc"} {
		_ = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(path, "testdata") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			files++
			for text := range strings.Lines(string(src)) {
				lines++
				for at := 0; ; {
					sp, ok := findSecret([]byte(text), at)
					if !ok {
						break
					}
					if sp.kind != "value" && sp.kind != "pem" && sp.kind != "password" {
						found = append(found, sp.kind+" in "+path+": "+text)
					}
					at = sp.to
				}
			}
			return nil
		})
	}
	t.Logf("%d lines of %d files", lines, files)
	if files < 100 || len(found) > 0 {
		t.Errorf("%d files: %q", files, found)
	}
}

// BenchmarkFindSecret reads texts as the record meets them.
func BenchmarkFindSecret(b *testing.B) {
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and then some: e.g. a path /home/me/projects/x.go or a name like read_file. ", 40)
	code := strings.Repeat("func (s *server) handle(w http.ResponseWriter, r *http.Request) error { return s.store.Get(r.Context(), r.URL.Path) }\n", 40)
	paths := strings.Repeat(`/srv/app/node_modules/@scope/pkg/lib/index.js:120:14 `, 80)
	for name, text := range map[string]string{"prose": prose, "code": code, "paths": paths, "hex": strings.Repeat(hex40, 100)} {
		b.Run(name, func(b *testing.B) {
			src := []byte(text)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				for at := 0; ; {
					sp, ok := findSecret(src, at)
					if !ok {
						break
					}
					at = sp.to
				}
			}
		})
	}
}
