package client

import (
	"bytes"
	"strings"
	"testing"
)

// A secret of an entry is shown by no format, wrapped or not, whatever line it is on.
func TestNoSecretIsShown(t *testing.T) {
	for _, c := range []struct {
		format string
		row    Row
		src    string
	}{
		{"JSON", rowJSON, `{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "p", "--api-key", "s3cr3t-1", "--token=s3cr3t-2", "--header", "Authorization: Bearer s3cr3t-3", "-e", "PLAIN=s3cr3t-4", "--pat=s3cr3t-8", "-ePLAIN=s3cr3t-0", "--github-pat", "s3cr3t-9", "-k", "s3cr3t8Fq2Zp0Xw", "-p", "s3cr3t7dK29aLq1", "-t=s3cr3t5Hq81Lx02", "https://h.example/hook/s3cr3t9Kd02Lq", "https://h.example/x?sig=s3cr3tq", "--kept", "shown"], "env": {"PLAIN": "s3cr3t-5"}}, "other": {"command": "y", "env": {"A": "s3cr3t-6"}}}}`},
		{"JSONC", rowJSONC, "{\"mcpServers\": {\n  // mine\n  \"fs\": {\"command\": \"npx\", \"args\": [\"-y\", /* \" */ \"p\", \"--api-key\", \"s3cr\\u0033t-1\", \"--token=s3cr3t-2\", \"-k\", \"s3cr3t8Fq2Zp0Xw\", \"-p\", \"s3cr3t7dK29aLq1\", \"-t=s3cr3t5Hq81Lx02\", \"https://h.example/hook/s3cr3t9Kd02Lq\", \"https://h.example/x?sig=s3cr3tq\", \"--kept\", \"shown\",], \"env\": {\"PLAIN\": \"s3cr3t-5\",},},\n}}"},
		{"TOML", rowTOML, "[mcp_servers.fs]\ncommand = 'npx'\nargs = ['-y', \"p\", \"--api-key\", 's3cr3t-1', \"--token=s3cr3t-2\", '''--password=s3cr3t-7''', \"-k\", \"s3cr3t8Fq2Zp0Xw\", \"-p\", \"s3cr3t7dK29aLq1\", \"-t=s3cr3t5Hq81Lx02\", \"https://h.example/hook/s3cr3t9Kd02Lq\", \"https://h.example/x?sig=s3cr3tq\", '--kept', 'shown']\nenv = { PLAIN = \"s3cr3t-5\" }\n"},
		{"YAML", rowYAML, "extensions:\n  fs:\n    type: stdio\n    cmd: npx\n    args: [-y, p, --api-key, s3cr3t-1, '--token=s3cr3t-2', -k, s3cr3t8Fq2Zp0Xw, -p, s3cr3t7dK29aLq1, -t=s3cr3t5Hq81Lx02, https://h.example/hook/s3cr3t9Kd02Lq, https://h.example/x?sig=s3cr3tq, --kept, shown]\n    env: {PLAIN: s3cr3t-5}\n"},
		{"YAML in lines", rowYAML, "extensions:\n  fs:\n    type: stdio\n    cmd: npx\n    args:\n      - --api-key\n      - s3cr3t-1\n      - \"--token=s3cr3t-2\"\n      - -k\n      - s3cr3t8Fq2Zp0Xw\n      - -p\n      - s3cr3t7dK29aLq1\n      - -t=s3cr3t5Hq81Lx02\n      - https://h.example/hook/s3cr3t9Kd02Lq\n      - https://h.example/x?sig=s3cr3tq\n      - shown\n    env:\n      PLAIN: s3cr3t-5\n"},
	} {
		t.Run(c.format, func(t *testing.T) {
			file, err := Read(c.row, []byte(c.src))
			if err != nil || len(file) == 0 || file[0].Kind != Stdio {
				t.Fatalf("%v: %+v", err, file)
			}
			wrapped, err := Wrap(c.row, []byte(c.src), file[0], Wrapper{Path: "/usr/bin/clawai", Server: "fs"})
			if err != nil {
				t.Fatal(err)
			}
			for _, src := range [][]byte{[]byte(c.src), wrapped} {
				shown := MaskFile(c.row, src)
				if bytes.Contains(shown, []byte("s3cr")) {
					t.Errorf("it shows a secret:\n%s", shown)
				}
				if !bytes.Contains(shown, []byte("shown")) || bytes.Count(shown, []byte("\n")) != bytes.Count(src, []byte("\n")) {
					t.Errorf("more is gone than the secrets:\n%s", shown)
				}
				if strings.Count(string(shown), hiddenText) < 3 {
					t.Errorf("what is covered is not to be seen:\n%s", shown)
				}
			}
		})
	}
}

// What a word's looks leave of it.
func TestShown(t *testing.T) {
	for _, c := range []struct{ before, word, want string }{
		{"-k", "8f3kd02ka9d1", ""}, {"-p", "Zx9Qm2Lp7Tw4", ""}, {"-t", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY2XAM1PLE0KEY", ""},
		{"x", "-k8f3kd02ka9d1", "-k"}, {"x", "-k=8f3kd02ka9d1", "-k="},
		{"x", "https://h/hook/T8f3kd02ka9d1/a", "https://h/hook/"}, {"x", "https://h/a?key=abc&b=c", "https://h/a?key="}, {"x", "https://h/a?abc", "https://h/a?"},
		{"x", "https://h/#abc", "https://h/#"}, {"x", "git+https://github.com/o/repo@0a1b2c3d4e5f", "git+https://github.com/o/repo@"},
	} {
		if got := c.word[:visibleLength(c.word, c.before)]; got != c.want {
			t.Errorf("%s %s shows %q, want %q", c.before, c.word, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"-y", "@modelcontextprotocol/server-filesystem@2025.8.21"}, {"-p", "8080:80"}, {"-p", "127.0.0.1:8080:80"}, {"-m", "mcp_server_git"}, {"-y", "figma-developer-mcp"},
		{"-v", "/home/user/projects2024:/data"}, {"-c", "go test ./..."}, {"-p", "typescript5.4.2"}, {"-f", "docker-compose2.yml"}, {"-n", "TypeScriptLanguageServer"},
		{"--long", "8f3kd02ka9d1"}, {"x", "8f3kd02ka9d1"}, {"x", "https://tools.example.org/api/v2/mcp"}, {"x", "https://h.example"}, {"x", "-rf"}, {"-", "a1b2c3d4e5f6"},
	} {
		if n := visibleLength(c[1], c[0]); n != len(c[1]) {
			t.Errorf("%s %s shows %q", c[0], c[1], c[1][:n])
		}
	}
}
