package inspect

import (
	"encoding/base64"
	"strings"
	"testing"
)

// What is a secret by its form or its place is of the first grade, whatever is written around
// it, and however it is written there.
func TestSecretsAreOfTheFirstGrade(t *testing.T) {
	const pass = "tr0ub4dor-3x"
	b64 := base64.StdEncoding.EncodeToString
	pair := b64([]byte("ana:" + pass))
	azure, signature := "Zk3q9w7VtB1nXy0LrTs5uPd8hJm2cEaGf4iKo6vQxYA+Bz/k3q9w7VtB1nXy0LrTs5uPd8hJm2cEaGf4iKo6vQ==", "CzBVep%2FE6Q4zWH2ix%2BwRNluApcrvFDleg6jN8hc8YYo%3D"
	for text, want := range map[string]string{
		// Keys behind and between words of examples.
		"example_" + key: key, "my_" + key: key, "export EXAMPLE_" + key: key, "your-" + key + "-here": key, "placeholder." + key: key,
		"xxxx-" + key: key, "old_" + key + "_new": key, "REDACTED:" + key: key, "changeme_" + key: key, "id_" + key: key,
		"x-" + "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx": "AbCdEfGhIjKlMnOpQrStUvWx",
		"test_" + "AKIA" + "Q3EGRV7UT2NWLKDJ":                                  "Q3EGRV7UT2NWLKDJ",
		// curl and its like.
		"curl -su ana:" + pass + " https://h":               pass,
		"curl -sSLu ana:" + pass + " https://h":             pass,
		"curl -sSLuana:" + pass + " https://h":              pass,
		"curl --user=ana:" + pass + " https://h":            pass,
		"curl --user ana:" + pass + " https://h":            pass,
		"curl --proxy-user ana:" + pass + " https://h":      pass,
		"curl -U ana:" + pass + " -x proxy:8080 https://h":  pass,
		"curl https://h -k -u \"ana:" + pass + "\"":         pass,
		"curl --proxy-user=ana:" + pass + " https://h":      pass,
		"curl -fsSu 'ana:" + pass + "' -o x https://h":      pass,
		"wget --user=ana --password=" + pass + " https://h": pass,
		"wget --http-password " + pass + " https://h":       pass,
		"http -a ana:" + pass + " https://h/x":              pass,
		"mysql -u ana -p" + pass + " app":                   pass,
		"mysqldump --password=" + pass + " app":             pass,

		"sshpass -p " + pass + " ssh h":                     pass,
		"redis-cli -h cache -a " + pass + " ping":           pass,
		"mongosh -u ana -p " + pass + " db":                 pass,
		"docker login -u ana -p " + pass + " r.example.net": pass,
		"sqlcmd -S db -U sa -P " + pass + " -Q x":           pass,
		"ldapsearch -D cn=admin -w " + pass + " -b dc=x":    pass,
		"smbclient //h/x -U ana%" + pass:                    pass,
		// Commands over lines, in quotes, as lists.
		"curl https://h \\\n  -X POST \\\n  -u ana:" + pass: pass, "curl https://h \\\r\n-u ana:" + pass: pass, "curl.exe https://h ^\n  -u ana:" + pass: pass, "curl.exe https://h `\n  -u ana:" + pass: pass,
		"curl 'https://h/x?y=1&z=2' -u ana:" + pass: pass, "curl https://h/x?y=1&z=2 -u ana:" + pass: pass, "curl -A 'Mozilla/5.0 (X11; Linux | x)' -u ana:" + pass: pass, "curl -d '{\n \"a\": 1\n}' -u ana:" + pass: pass,
		"curl https://h 2>&1 -u ana:" + pass: pass, `C:\Windows\System32\curl.exe -u ana:` + pass: pass, "$(which curl) -u ana:" + pass: pass, "curl -u \\\n ana:" + pass: pass, "curl\t-u ana:" + pass: pass,
		"curl -u $'ana:" + pass + "' https://h": pass, "curl -u ana:'" + pass + "' https://h": pass, `curl "-u" "ana:` + pass + `"`: pass, `{"run":"curl -u \"ana:` + pass + `\" https://h"}`: pass,
		`["curl","-u","ana:` + pass + `","https://h"]`: pass, `['curl', '-u', 'ana:` + pass + `']`: pass, `"[\"curl\",\"-u\",\"ana:` + pass + `\"]"`: pass, "[\n \"curl\",\n \"-u\",\n \"ana:" + pass + "\"\n]": pass, `["mysql","-p` + pass + `"]`: pass,
		// netrc.
		"machine h login ana port 993 password " + pass:                pass,
		"machine h login ana password " + pass:                         pass,
		"default login ana password " + pass:                           pass,
		"machine h password " + pass + " login ana":                    pass,
		"machine h login \"ana\" password \"" + pass + "\"":            pass,
		"machine h account a login ana password " + pass:               pass,
		"echo 'machine h login ana password " + pass + "' >> ~/.netrc": pass,
		// Basic authentication.
		"Authorization: Basic " + pair:                                   pair,
		"Authorization: Basic " + b64([]byte(":"+pass)):                  b64([]byte(":" + pass)),
		"Authorization: " + pair:                                         pair,
		`{"auths":{"r.example.net":{"auth":"` + pair + `"}}}`:            pair,
		"//registry.example.net/:_auth=" + pair:                          pair,
		"_auth = \"" + pair + "\"":                                       pair,
		"-H 'Authorization: Basic " + strings.TrimRight(pair, "=") + "'": strings.TrimRight(pair, "="),
		"Authorization: Basic   " + pair:                                 pair,
		"Authorization: Basic " + b64([]byte("ana:p\xe4ssw\xf6rd9K")):    b64([]byte("ana:p\xe4ssw\xf6rd9K")),
		"Authorization: Bearer   Qm9vZ2xlcHJlc3M3":                       "Qm9vZ2xlcHJlc3M3",
		// A key within it, whatever stands around it, and as the name alone.
		"Authorization: Basic " + b64([]byte("ana:<"+key+">")):                 b64([]byte("ana:<" + key + ">")),
		"Authorization: Basic " + b64([]byte("ana:your_"+key)):                 b64([]byte("ana:your_" + key)),
		"Authorization: Basic " + b64([]byte("ana:example"+key)):               b64([]byte("ana:example" + key)),
		"Authorization: Basic " + b64([]byte("ana:"+key+" xxxx")):              b64([]byte("ana:" + key + " xxxx")),
		"Authorization: Basic " + b64([]byte(key+":password")):                 b64([]byte(key + ":password")),
		"Authorization: Basic " + b64([]byte(key+":xxxx")):                     b64([]byte(key + ":xxxx")),
		"Authorization: Basic " + b64([]byte(key+":")):                         b64([]byte(key + ":")),
		"Authorization: Basic " + b64([]byte("example:"+key)):                  b64([]byte("example:" + key)),
		`{"auths":{"r.example.net":{"auth":"` + b64([]byte(key+":x")) + `"}}}`: b64([]byte(key + ":x")),
		`{"auths":{"r.example.net":{"auth":"` + b64([]byte(key+":")) + `"}}}`:  b64([]byte(key + ":")),
		"//registry.example.net/:_auth=" + b64([]byte("example:<"+key+">")):    b64([]byte("example:<" + key + ">")),
		// Signs of a template within a password.
		"curl -u 'ana:R7x<qKvLmTz' https://h": "R7x<qKvLmTz", "curl -u 'ana:Ab$cdEfGhIjKl' https://h": "Ab$cdEfGhIjKl", "postgres://ana:Kq*xTzWvBnM@h/x": "Kq*xTzWvBnM",
		"postgres://ana:Kq%xTzWvBnM@h/x": "Kq%xTzWvBnM", "Server=db;Password=Kq<xTzWvBnM;": "Kq<xTzWvBnM", "ana:Kq$xTzWvBnM@tcp(db:3306)/app": "Kq$xTzWvBnM",
		"Authorization: Basic " + b64([]byte("ana:R7x<qKvLmTz")): b64([]byte("ana:R7x<qKvLmTz")),
		// Keys of accounts, and signatures.
		`{"AccountName":"x","AccountKey":"` + azure + `"}`: azure, "AccountName: x\nAccountKey: " + azure + "\n": azure, "AccountName = x; AccountKey = " + azure + "; EndpointSuffix=y": azure, "AccountKey='" + azure + "'": azure,
		`account_key="` + azure + `"`: azure, "AZURE_STORAGE_ACCOUNT_KEY=" + azure: azure, "AccountKey%3D" + azure + "%3BEndpointSuffix": azure, "az storage blob list --account-key " + azure: azure, `"SharedAccessKey": "` + azure + `"`: azure,
		"<a href='https://x.blob.core.windows.net/c?sv=2022-11-02&amp;sp=r&amp;sig=" + signature + "'>": signature, `{"u":"https://x.blob.core.windows.net/c?sv=1\u0026sig=` + signature + `"}`: signature,
		// Connection strings.
		"Server=db;Database=app;User Id=ana;Password=" + pass + ";":                            pass,
		"Data Source=db;Initial Catalog=app;UID=ana;PWD=" + pass:                               pass,
		"host=db port=5432 user=ana password=" + pass + " dbname=app":                          pass,
		"jdbc:postgresql://db/app?user=ana&password=" + pass:                                   pass,
		"jdbc:sqlserver://db;user=ana;password=" + pass + ";encrypt=true":                      pass,
		"jdbc:oracle:thin:ana/" + pass + "@db:1521/x":                                          pass,
		"Driver={ODBC Driver 18};Server=db;Uid=ana;Pwd={" + pass + "};":                        pass,
		"mongodb+srv://ana:" + pass + "@cluster0.example.net/app":                              pass,
		"amqp://ana:" + pass + "@mq:5672/v":                                                    pass,
		"ana:" + pass + "@tcp(db:3306)/app":                                                    pass,
		"smtp://ana%40x.example:" + pass + "@mail:587":                                         pass,
		"DATABASE_URL=postgresql+asyncpg://ana:" + pass + "@db/app":                            pass,
		"https://ana:" + pass + "@h/x, user password example":                                  pass,
		"Endpoint=https://x.azconfig.io;Id=abc;Secret=" + b64([]byte(strings.Repeat(pass, 3))): b64([]byte(strings.Repeat(pass, 3))),
	} {
		found := false
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			found = found || strings.Contains(text[f.Start:f.End], want)
		}
		if !found {
			t.Errorf("%q: %v", text, SearchText(text, Kinds{}))
		}
	}
}

// What stands in such a place for a secret, or only looks like one, is none.
func TestPlacesWithoutSecrets(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, text := range []string{
		"install curl; docker run -u ana:tr0ub4dor x", "curl https://h\ndocker run -u ana:tr0ub4dor x", "curl x && docker run -u ana:tr0ub4dor x", "curl x | docker run -u ana:tr0ub4dor x", "apt-get install -y curl \\\n && docker run -u ana:tr0ub4dor x", "it's curl; that's docker -u ana:tr0ub4dor",
		"curl -u ana:\"$PASS\" h", `["curl","-u","user:password"]`, `["curl","-u","$USER:$PASS"]`, "AccountKey: your-storage-account-key-placeholder-1", "AccountKey: ReadTheAccountKeyFromTheSettings()", `AccountKey="<the key of the storage account, in base64>"`, "AccountKey=${STORAGE_ACCOUNT_KEY_OF_THE_ENVIRONMENT}",
		"Basic authentication", "basic  knowledge", "a basic  understanding", "Bearer  authentication", "curl -u ana: h", "curl -u ana:\n-x", `["docker","run","-u","ana:tr0ub4dor"]`,
		"psycopg2.connect(host=settings.host, user=settings.user, password=settings.password)", "connect(host=db, user=u, password=load_pass1())",
		"Server=myServerAddress;Database=myDataBase;User Id=myUsername;Password=myPassword;", "host=%s user=%s password=%s", "Server=db;Password=${DB_PASSWORD};",
		"the default login form has password fields", "default login admin password policy", "machine learning needs login and password data",
		`"NextToken": "eyJOZXh0VG9rZW4iOiBudWxsLCAiYm90b190cnVuY2F0ZV9hbW91bnQiOiAyfQ=="`, "user:password@tcp(localhost:3306)/db", "jdbc:oracle:thin:scott/tiger@h:1521/x",
		"curl -su user:password https://h", "curl -sSLu $USER:$PASS https://h", "curl -fsSLO https://h/x", "my_sk_test", "task_SKILL_0123", "wget --password $PASS h",
		"get_ghp_token()", "rename foo_AKIA to x", "jdbc:mysql://h/db?user=root&password=secret", "docker login --password-stdin r.example.net",
		"host=db port=5432 user=app password=password", "the_data: 1", `machine HOSTNAME login USERID password "PASSWORD"`, "x_default: y", "e.g. a:b@tcp is MySQL's",
		"Authorization: Basic " + b64("user:"), "Authorization: Basic " + b64("user:<password>"), "Authorization: Basic " + b64("user:your_password"), `"auth": "` + b64("username:") + `"`,
		"curl -u 'user:<the password>' https://h", "curl -u 'ana:$PASSWORD' https://h", "curl -u user:prefix-${PASSWORD} https://h", "postgres://ana:$(cat_it)@h/x", "Server=db;Password=<your password>;",
		"postgres://ana:%DBPASSWORD%@h/x", "postgres://ana:%(password)s@h/x", "postgres://%s:%s@h/x", "postgres://u:pass%s-word@h/x", "postgres://user:secret**word@h/x", "postgres://{user}:{password}@h/x",
		"postgres://[user]:[password]@h/x", "https://user:quote(password)@h/x", "Server=db;Password=Settings[", "://[^:]+:([^@]+)@", "curl -u user:password</code> x", "Server=db;Uid=a;Pwd=myPassword<br/>",
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}
