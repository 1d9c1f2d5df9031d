package flow

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/policy"
)

// A deciding value is the user's if it is, exactly, what he typed; what he wrote around it
// does not count.
func TestWordForWord(t *testing.T) {
	const path = "delete /home/ana/project/build"
	for _, c := range []struct {
		says, to string
		his      bool
	}{
		{path, `"/home/ana/project/build"`, true},
		{path + ".", `"/home/ana/project/build"`, true},
		{path + "/", `"/home/ana/project/build"`, true},
		{path + "/ now", `"/home/ana/project/build/"`, true},
		{`delete "/home/ana/project/build", please`, `"/home/ana/project/build"`, true},
		{"delete `/home/ana/project/build`!", `"/home/ana/project/build"`, true},
		{"delete **/home/ana/project/build**.", `"/home/ana/project/build"`, true},
		{path, `"/home/ana/project/build/../../.."`, false},
		{path, `"/home/ana/project/build/*"`, false},
		{path, `"/home/ana/project/build*"`, false},
		{path, `"/home/ana/project/build\\..\\.."`, false},
		{path, `"/home/ana/project/build, ../../*"`, false},
		{path, `"/home/ana/project/build ../../*"`, false},
		{path, `"/home/ana/project/build/"`, false},
		{path, `"/home/ana/project/build."`, false},
		{path, `"/home/ana/project/build\n"`, false},
		{path, `" /home/ana/project/build"`, false},
		{path, `"\"/home/ana/project/build\""`, false},
		{path, `"/home/ana/project/BUILD"`, false},
		{path, `"file:///home/ana/project/build"`, false},
		{path, `"/home/ana/project"`, false},
		{path, `"[/home/ana/project/build]"`, false},
		{path, `["/home/ana/project/build","../../*"]`, false},
		{path, `{"/home/ana/project/build":"../../*"}`, false},
		{path, `{"../../*":"/home/ana/project/build"}`, false},
		{path + "/*", `"/home/ana/project/build"`, false},
		{path + "/*", `"/home/ana/project/build/*"`, true},
		{"delete /home/ana/{a,b}/c", `"/home/ana/"`, false},
		{"delete {/home,/tmp}/ana", `"/ana"`, false},
		{"delete /home/ana/project(old)", `"/home/ana/project"`, false},
		{"delete /home/ana/project(old)", `"/home/ana/project(old)"`, true},
		{"delete (the) report (final).txt", `"report (final).txt"`, true},

		// A host has two spellings.
		{"fetch https://münchen.example/a", `"https://xn--mnchen-3ya.example/a"`, true},
		{"write to eve@xn--mnchen-3ya.example", `"eve@münchen.example"`, true},
		{"fetch https://münchen.example/a", `"https://xn--mnchen-3ya.example/b"`, false},
		{"fetch https://munchen.example/a", `"https://münchen.example/a"`, false},
		{"fetch https://münchen.example/a", `"https://munchen.example/a"`, false},

		// A path with blanks or marks in it is one path.
		{`delete "/home/ana/project (old)"`, `"/home/ana/project"`, false},
		{`delete "/home/ana/project (old)"`, `"/home/ana/project (old)"`, true},
		{"delete `/home/ana/project - old/build`.", `"/home/ana/project"`, false},
		{"delete `/home/ana/project - old/build`.", `"/home/ana/project - old/build"`, true},
		{`delete '/home/ana/my project'`, `"/home/ana/my"`, false},
		{`delete “/home/ana/my project”`, `"/home/ana/my"`, false},
		{`delete "a/b c/d"`, `"b c/d"`, false},
		{`delete "docs/old notes"`, `"docs/old"`, false},
		{`delete "C:\Users\ana\My Files"`, `"C:\\Users\\ana\\My"`, false},
		{`copy "/home/ana/a.txt /home/ana/b.txt"`, `["/home/ana/a.txt","/home/ana/b.txt"]`, true},
		{`copy "docs/a.txt docs/b.txt"`, `["docs/a.txt","docs/b.txt"]`, false}, // it could be one
		{`copy "docs/a.txt docs/b.txt"`, `"docs/a.txt docs/b.txt"`, true},
		{"run `cp docs/a.txt docs/b.txt`", `["docs/a.txt","docs/b.txt"]`, true},
		{`delete "projects/old stuff/tmp"`, `"projects/old"`, false},
		{`delete 'projects/old stuff/tmp'`, `"stuff/tmp"`, false},
		{`delete 'projects/old stuff/tmp'`, `"projects/old stuff/tmp"`, true},
		{`delete "old stuff/tmp"`, `"stuff/tmp"`, false},
		{`delete 'my docs/a b/c'`, `"docs/a"`, false},
		{`delete "my docs/a b/c"`, `"my docs/a b/c"`, true},
		{`it says "see /srv/data for more"`, `"/srv/data for more"`, true},
		{`don't touch docs/a or Bob's`, `"docs/a"`, true},
		{"delete ``/home/ana/project old``", `"/home/ana/project"`, false},
		{"delete ``/home/ana/project`` and `docs/a`", `["/home/ana/project","docs/a"]`, true},
		{`delete "$HOME/my files/tmp"`, `"$HOME/my"`, false},
		{`delete "projects\old stuff\tmp"`, `"projects\\old"`, false},
		{`delete »/home/ana/project alt«`, `"/home/ana/project"`, false},
		{`delete „/home/ana/project alt“`, `"/home/ana/project"`, false},
		{`delete „/home/ana/project alt”`, `"/home/ana/project"`, false},
		{`delete ‚/home/ana/project alt‘`, `"/home/ana/project"`, false},
		{`delete ”/home/ana/project gammal”`, `"/home/ana/project"`, false},
		{`delete ’/home/ana/project gammal’`, `"/home/ana/project"`, false},
		{`delete 「/home/ana/project old」`, `"/home/ana/project"`, false},
		{`delete 《/home/ana/project old》`, `"/home/ana/project"`, false},
		{`delete ‹/home/ana/project old›`, `"/home/ana/project"`, false},
		{`delete „/home/ana/project alt“`, `"/home/ana/project alt"`, true},
		{`delete /home/ana/project' 'old`, `"/home/ana/project"`, false},
		{`delete /home/ana/project" "old`, `"/home/ana/project"`, false},
		{`delete /home/ana/project" old"`, `"/home/ana/project"`, false},
		{`delete "/srv/a""b"`, `"/srv/a"`, false},
		{`delete /srv/a""b`, `"/srv/a"`, false},
		{`delete "/srv/a  b"`, `"/srv/a b"`, false},
		{`delete "/srv/a  b"`, `"/srv/a  b"`, true},
		{`delete "/home/ana/project \"x\" c"`, `"/home/ana/project"`, false},
		{`delete "C:\my files\" and "D:\data"`, `["C:\\my files\\","D:\\data"]`, true},
		{`delete Bob's /srv/a and Ann's /srv/b`, `["/srv/a","/srv/b"]`, true},
		{`is /srv/data's owner Bob's?`, `"/srv/data"`, true},
		{`delete '/srv/a' '/srv/b'`, `["/srv/a","/srv/b"]`, true},
		{`delete "/srv/a" "docs/b"`, `["/srv/a","docs/b"]`, true},

		// What stands directly behind a closing quote belongs to it.
		{`delete "/srv/data"{a,b}`, `"/srv/data"`, false},
		{`delete "/srv/data"+(a)`, `"/srv/data"`, false},
		{`delete "/srv/data"!(a)`, `"/srv/data"`, false},
		{`delete "/srv/data"#1`, `"/srv/data"`, false},
		{`delete "/srv/data"%d`, `"/srv/data"`, false},
		{`delete "/srv/data"été`, `"/srv/data"`, false},
		{`delete “/srv/data”2`, `"/srv/data"`, false},
		{`to "alma@corp.test".evil.example`, `"alma@corp.test"`, false},
		{`to <alma@corp.test>.evil`, `"alma@corp.test"`, false},
		{`to "alma@corp.test"x`, `"alma@corp.test"`, false},
		{`open "example.org".evil.test`, `"https://example.org/"`, false},
		{`open "https://example.org":8443`, `"https://example.org/"`, false},
		{`open "example.org"/a`, `"https://example.org/"`, false},
		{`is "alma@corp.test"!? Or...`, `"alma@corp.test"`, true},
		{`(to "alma@corp.test".)`, `"alma@corp.test"`, true},
		{"the `Widget`s of `Alma`'s team", `["Widget","Alma"]`, true},
		{`{"to":"alma@corp.test"}`, `"alma@corp.test"`, true},
		{`{"alma@corp.test":true}`, `"alma@corp.test"`, true},
		{`to "alma@corp.test"—she knows`, `"alma@corp.test"`, true},
		{"发给`alma@corp.test`吧", `"alma@corp.test"`, true},
		{`see <a href="/srv/data">it</a>`, `"/srv/data"`, true},
		{`**"alma@corp.test"**: hello`, `"alma@corp.test"`, true},
		{`delete „/srv/data“`, `"/srv/data"`, true},
		{`to „alma@corp.test“`, `"alma@corp.test"`, true},
		{`to ‚alma@corp.test‘`, `"alma@corp.test"`, true},
		{`delete 「/srv/data」`, `"/srv/data"`, true},

		// Behind the name of another machine stands no path of this one.
		{`scp "ana@nas":/srv/data`, `"/srv/data"`, false},
		{"copy from `nas`:/srv/data", `"/srv/data"`, false},
		{`docker cp <id>:/srv/data`, `"/srv/data"`, false},
		{`{"path":"/srv/data"}`, `"/srv/data"`, true},
		{`(files): /srv/data`, `"/srv/data"`, true},
		{"run `cp /home/ana/a.txt /srv/b.txt`", `["/home/ana/a.txt","/srv/b.txt"]`, true},
		{`delete "/home/ana/a.txt" and "/home/ana/b.txt"`, `["/home/ana/a.txt","/home/ana/b.txt"]`, true},
		{`delete /home/ana/project\ old`, `"/home/ana/project"`, false},
		{`delete /home/ana/project\ old`, `"/home/ana/project\\"`, false},
		{`delete /home/ana/project\ old`, `"/home/ana/project old"`, true},
		{`delete /home/ana/"my project"/build`, `"/home/ana/"`, false},
		{`delete /home/ana/"old"/build`, `"/home/ana"`, false},
		{`delete /home/ana/<name>/build`, `"/home/ana/"`, false},
		{`delete <home>/build`, `"/build"`, false},
		{"delete `pwd`/build", `"/build"`, false},
		{`delete "$HOME"/build`, `"/build"`, false},
		{`delete /home/ana/project,old/build`, `"/home/ana/project"`, false},
		{`delete /home/ana/project|old`, `"/home/ana/project"`, false},
		{`delete /home/ana/project…/build`, `"/home/ana/project"`, false},
		{`delete /home/ana/a,/home/ana/b`, `["/home/ana/a","/home/ana/b"]`, true},
		{`delete docs/a,docs/b`, `["docs/a","docs/b"]`, true},
		{`delete {"path":"/home/ana/a","force":1}`, `"/home/ana/a"`, true},
		{`delete "/home/ana/a"'s copy`, `"/home/ana/a"`, true},
		{`delete "/home/ana/a".`, `"/home/ana/a"`, true},
		{`delete <path>/home/ana/a</path>`, `"/home/ana/a"`, true},
		{"删除`/home/ana/a`吧", `"/home/ana/a"`, true},
		{`delete backup:/srv/data`, `"/srv/data"`, false},
		{`delete **/build/**`, `"/build/"`, false},
		{`delete ~/p/build~`, `"/p/build"`, false},
		{`delete ~~/home/ana/a~~`, `"/home/ana/a"`, true},
		{`read "TCP/IP is what all hosts speak, and some do it well"`, `"TCP/IP is what all hosts speak, and some do it well"`, true},
		{"fix install.sh", `"https://install.sh/"`, false},
		{"fix main.tf", `"https://main.tf/"`, false},
		{"fix main.cc", `"https://main.cc/"`, false},
		{"fix id_rsa.pub", `"https://id_rsa.pub/"`, false},
		{"fix log4j.properties", `"https://log4j.properties/"`, false},
		{"fix libfoo.so", `"https://libfoo.so/"`, false},
		{"fix parser.ml", `"https://parser.ml/"`, false},
		{"fix Makefile.am", `"https://makefile.am/"`, false},
		{"fix config.h.in", `"https://config.h.in/"`, false},
		{"fix player.gd", `"https://player.gd/"`, false},
		{"fix Foo.pm", `"https://foo.pm/"`, false},
		{"fix top.sv", `"https://top.sv/"`, false},
		{"fix view.mm", `"https://view.mm/"`, false},
		{"fix setup.run", `"https://setup.run/"`, false},
		{"fix Photo.app", `"https://photo.app/"`, false},
		{"fix System.in", `"https://system.in/"`, false},
		{"fix Dockerfile.dev", `"https://dockerfile.dev/"`, false},
		{"fix logo.ai", `"https://logo.ai/"`, false},
		{"fix model.pt", `"https://model.pt/"`, false},
		{"fix configure.ac", `"https://configure.ac/"`, false},
		{"fix main.tf", `"main.tf"`, true},
		{"fix src/main.tf", `"https://src/main.tf"`, false},
		{"open https://main.tf", `"https://main.tf/"`, true},
		{"open www.main.tf", `"https://www.main.tf/"`, true},
		{"look at example.com", `"https://example.com"`, true},
		{"look at docs.example.co.uk:8443/a", `"https://docs.example.co.uk:8443/a"`, true},
		{"look at 192.0.2.7:8080", `"https://192.0.2.7:8080/"`, true},
		{"fix install.sh", `"install.sh"`, true},
		{"open https://install.sh", `"https://install.sh/"`, true},

		// A line behind a file's name is none of it, and a program behind a pipe neither.
		{"fix src/main.go:12", `"src/main.go"`, true},
		{"fix src/main.go:12:5, please", `"src/main.go"`, true},
		{"fix /w/src/tool.py:120:", `"/w/src/tool.py"`, true},
		{"fix `main.go:12`", `"main.go"`, true},
		{"fix main.go:12", `"https://main.go:12/"`, false},
		{"fix app.test.ts", `"https://app.test.ts/"`, false},
		{"fix src/main.go:12", `"src/main"`, false},
		{"fix src/main.go:12", `"src"`, false},
		{"run cat /srv/data|grep x", `"/srv/data"`, true},
		{"run `cat /home/ana/a.log|sort|uniq -c`", `"/home/ana/a.log"`, true},
		{"run cat /a/b|grep x", `"cat /a/b|grep x"`, true},
		{"run cat /a/b|grep x", `"cat /a/b|grep x /etc/passwd"`, false},
		{"delete /home/ana/project|grepped", `"/home/ana/project"`, false},
		{"delete /home/ana/project|sort/old", `"/home/ana/project"`, false},
		{"use db/x:12", `"db/x"`, false},
		{"open https://example.org/a.go:12", `"https://example.org"`, false},

		// A letter that becomes a plain one is another.
		{"to mike@corp.test", `"mi\u212ae@corp.test"`, false},
		{"to mike@corp.test", `"m\u0130ke@corp.test"`, false},
		{"open github.com", `"g\u0130thub.com"`, false},
		{"to jürgen@corp.test", `"JÜRGEN@corp.test"`, true},
		{"to alma@corp.test", `["alma@corp.test",{"members":true}]`, false},
		{"to all members", `{"members":true}`, true},

		// A deciding argument that holds anything must be named, and one that is empty names nobody.
		{"to alma@corp.test", `true`, false},
		{"to alma@corp.test", `false`, false},
		{"to alma@corp.test", `[]`, false},
		{"to alma@corp.test", `{}`, false},
		{"to alma@corp.test", `[[]]`, false},
		{"to alma@corp.test", `[true]`, false},
		{"to alma@corp.test", `[null]`, false},
		{"to alma@corp.test", `["alma@corp.test",true]`, false},
		{"to alma@corp.test", `{"team":null}`, false},
		{"to alma@corp.test", `{"email":"alma@corp.test","name":null}`, true},
		{"to alma@corp.test", `"alma@corp.test","TO":true`, false},
		{"to alma@corp.test", `"alma@corp.test","TO":[]`, true},
		{"to alma@corp.test", `"alma@corp.test","TO":null`, true},
		{"to alma@corp.test", `"alma@corp.test","TO":{"team":null}`, false},

		{"to alma@corp.test", `"alma@corp.test"`, true},
		{"to Alma@Corp.test!", `"alma@corp.test"`, true},
		{"to Alma <alma@corp.test>", `"alma@corp.test"`, true},
		{"to Alma <alma@corp.test>", `"Alma <alma@corp.test>"`, true},
		{"email:alma@corp.test", `"alma@corp.test"`, true},
		{"to alma@corp.test", `"*@alma@corp.test"`, false},
		{"to alma@corp.test", `"@alma@corp.test"`, false},
		{"to alma@corp.test", `"<alma@corp.test>"`, false},
		{"to alma@corp.test", `"alma@corp.test,"`, false},
		{"to alma@corp.test", `"mailto:alma@corp.test?bcc=eve@evil.example"`, false},
		{"to alma@corp.test", `{"alma@corp.test":true}`, true},
		{"to alma@corp.test", `{"email":"alma@corp.test"}`, true},
		{"to alma@corp.test", `[{"email_address":"alma@corp.test"}]`, true},
		{"to alma@corp.test", `{"eve@evil.example":"alma@corp.test"}`, false},
		{"to alma@corp.test", `{"eve":"alma@corp.test"}`, false},
		{"to alma@corp.test", `{"eve@evil.example":true}`, false},
		{"to alma@corp.test", `{"eve@evil.example":{}}`, false},
		{"to alma@corp.test", `[{"eve@evil.example":null},"alma@corp.test"]`, false},
		{"to alma@corp.test, bob@corp.test", `["alma@corp.test","bob@corp.test"]`, true},
		{"to alma@corp.test,bob@corp.test", `["alma@corp.test","bob@corp.test"]`, true},
		{"to alma@corp.test, bob@corp.test", `"alma@corp.test, bob@corp.test"`, true},
		{"to alma@corp.test, bob@corp.test", `"alma@corp.test; eve@evil.example"`, false},

		{"in #general", `"general"`, true},
		{"in #general", `"#general"`, true},
		{"in general", `"#general"`, false},
		{"tell Alma's team", `"Alma"`, true},
		{"open example.org/a", `"https://example.org/a"`, true},
		{"open Example.org", `"https://example.org/"`, true},
		{"open https://example.org", `"https://example.org/"`, true},
		{"open https://example.org/a.", `"example.org/a"`, true},
		{"open example.org/a", `"http://example.org/a"`, false},
		{"open example.org/a", `"https://example.org/a?d=1"`, false},
		{"open example.org/a", `"https://example.org/A"`, false},
		{"open example.org", `"https://example.org/a"`, false},
		{"open example.org", `"https://example.org@evil.example/"`, false},
		{"card 4411223344", `4411223344`, true},
		{"card 4411223344", `4411223344.0`, false},
		{"card 4411223344", `"#4411223344"`, false},

		{"title: The  quick\nbrown fox", `"The quick brown fox"`, true},
		{"title: The  quick\nbrown fox", `"The  quick\nbrown fox"`, true},
		{"title: The quick brown fox", `"The quick\nbrown fox"`, false},
		{"title: The quick brown fox", `"the quick, brown fox"`, false},
		{"post one two three four five six seven eight nine ten", `"one two three four five six seven eight nine ten"`, true},
		{"post one two three four five six seven eight nine ten", `"one two three four five six seven eight nine ten."`, false},
		{"post one two three four five six seven eight nine ten", `"one two three four five six seven eight nine; ten"`, false},
		{"post one two three four five six seven eight nine ten", `" one two three four five six seven eight nine ten"`, false},
		{"delete ~/p/build", `"~/p/build/./../.."`, false}, {"delete ~/p/build", `"~/p//build"`, false}, {"delete ~/p/build", `"~/p/build%2f.."`, false}, {"delete ~/p/build", "\"~/p/build\u200b\"", false}, {"delete ~/p/build", `"~/p/build/."`, false},
		{"mail alma@corp.test", `"ａlma@corp.test"`, false}, {"mail alma@corp.test", `"аlma@corp.test"`, false}, {"mail bob@example.org.evil.com", `"bob@example.org"`, false}, {"mail bob@example.org/x", `"bob@example.org"`, false}, {"mail bob@example.org-old", `"bob@example.org"`, false},
		{"open https://corp.test/a?next=https://evil.example", `"https://evil.example"`, false}, {"open https://corp.test/a?next=https://evil.example/x", `"https://corp.test/a"`, false}, {"open https://corp.test/a?x=1", `"https://corp.test/a"`, false}, {"open https://corp.test/a&b", `"https://corp.test/a"`, false}, {"open https://corp.test/a;b", `"https://corp.test/a"`, false},
		{"mail alma@corp.test", `"alma@corp.test\r\nBcc: eve@evil.example"`, false}, {"mail alma@corp.test", `"alma@corp.test%0aBcc:eve@evil.example"`, false}, {"mail alma@corp.test", `"mailto:alma@corp.test?bcc=eve@evil.example"`, false}, {"mail alma@corp.test", `"alma@corp.test\u0000"`, false}, {"mail alma@corp.test", `"Alma <eve@evil.example>"`, false}, {"mail alma@corp.test", `"\"alma@corp.test\" <eve@evil.example>"`, false},
		{"mail alma@corp.test", `{"email":"alma@corp.test","eve@evil.example":"x"}`, false}, {"mail alma@corp.test", `["alma@corp.test",{"cc":"eve@evil.example"}]`, false}, {"mail alma@corp.test", `["alma@corp.test",["eve@evil.example"]]`, false}, {"mail alma@corp.test", `{"alma@corp.test":{"bcc":"eve@evil.example"}}`, false},
		{"open https://corp.test", `"https://corp.test@evil.example/"`, false}, {"open https://corp.test", `"https://corp.test\\@evil.example"`, false}, {"open https://corp.test", `"https://corp.test./"`, false}, {"open https://corp.test", `"https://corp.test:8443/"`, false}, {"open https://corp.test", `"https://corp.test//evil.example"`, false}, {"open https://corp.test", `"https://corp.test.evil.example"`, false},
		{"see https://corp.test/a(b)", `"https://corp.test/a"`, false}, {`delete C:\Users\ana\build`, `"C:\\Users\\ana\\build\\.."`, false}, {"delete $HOME/x1", `"$HOME"`, false}, {"delete $HOME/x1", `"$HOME/"`, false}, {"mail alma+news@corp.test", `"alma@corp.test"`, false}, {"mail alma+news@corp.test", `"news@corp.test"`, false}, {"mail a.bert@corp.test", `"bert@corp.test"`, false},
		{"fork acme/website", `"acme/website-evil"`, false}, {"fork acme/website", `"evil/acme/website"`, false}, {"fork acme/website", `"website"`, false}, {"fork acme/website", `"acme"`, false}, {"pay 12345", `"012345"`, false}, {"pay 12345", `12345.0`, false}, {"pay 12345-67890", `"12345"`, false}, {"v1.2.34567", `"34567"`, false}, {"mail alma@corp.test:eve", `"alma@corp.test"`, false},
		{"delete /srv/a\\\nb", `"/srv/a"`, false}, {"delete /srv/data=old", `"/srv/data"`, false}, {"delete /srv/data~", `"/srv/data"`, false}, {"delete /srv/data+x", `"/srv/data"`, false}, {"delete /srv/data%20x", `"/srv/data"`, false}, {"delete /srv/data@v2", `"/srv/data"`, false}, {"delete /srv/data$", `"/srv/data"`, false}, {"delete ./srv/../data1", `"./srv"`, false}, {"delete /srv/data/{a,b}", `"/srv/data/"`, false}, {"delete /srv/data/[ab]", `"/srv/data/"`, false}, {"delete -- /srv/data/ *", `"/srv/data/ *"`, true},
		{"delete (/srv/data)", `"/srv/data"`, true}, {"delete: /srv/data; now", `"/srv/data"`, true}, {"[docs](https://corp.test/a)", `"https://corp.test/a"`, true}, {"delete `/srv/data`, please", `"/srv/data"`, true}, {"<alma@corp.test>", `"alma@corp.test"`, true}, {"run rm -rf build", `"rm -rf build"`, true}, {"run rm -rf build", `"rm -rf build/*"`, false}, {"run rm -rf build", `"rm -rf build ."`, false}, {"run rm -rf build", `"rm -rf build;x"`, false},
		{"delete /srv/data\u200b2", `"/srv/data"`, false}, {"delete /srv/dätä", "\"/srv/da\u0308ta\u0308\"", false}, {"delete /srv/data；x", `"/srv/data"`, false},
	} {
		state := t.TempDir()
		_, _, mail := house(t, state)
		if err := HearUser(state, []string{"session:1"}, c.says); err != nil {
			t.Fatal(err)
		}
		if got := weighed(mail, tool("send", `{"to":`+c.to+`}`)); strings.HasPrefix(got, "allow: "+userSaid) != c.his {
			t.Errorf("%q: %s: %s", c.says, c.to, got)
		}
	}
}

// What people write around a path is none of it; what makes it another path, or a pattern, is.
func TestWhereATypedPathEnds(t *testing.T) {
	for _, c := range []struct {
		says string
		his  []string
		not  []string
	}{
		// Sentences.
		{"read /a/b.", []string{"/a/b"}, nil},
		{"read /a/b/.", []string{"/a/b", "/a/b/"}, nil},
		{"look at /a/b?", []string{"/a/b"}, nil},
		{"look at /a/b...", []string{"/a/b"}, nil},
		{"look at /a/b!?", []string{"/a/b"}, nil},
		{"(see /a/b)!", []string{"/a/b"}, nil},
		{"is it `/a/b`?", []string{"/a/b"}, nil},
		{"no, \"/a/b\"!", []string{"/a/b"}, nil},
		{"**`/a/b`**, please", []string{"/a/b"}, nil},
		{"*\"/a/b\"*.", []string{"/a/b"}, nil},
		{"read the files in v5/work/.", []string{"v5/work"}, nil},
		{"list ..", []string{".."}, nil},
		{"list ../..", []string{"../.."}, []string{".."}},
		{"list /srv/work/..!", []string{"/srv/work/.."}, []string{"/srv/work", "/srv/work/"}},
		{"look at @docs/a.md and @/srv/b", []string{"docs/a.md", "/srv/b", "@docs/a.md"}, nil},
		{"look at @src/", []string{"src/"}, nil},
		{"in #general, tell @alma", []string{"general", "alma"}, nil},
		{"why?! see ?", []string{"why"}, nil},
		{"mail \"alma@corp.test\", \"bob@corp.test\"!", []string{"alma@corp.test", "bob@corp.test"}, nil},
		{"`alma@corp.test`,@bob", []string{"alma@corp.test", "bob"}, nil},

		// Segments of dots.
		{"list /srv/work/..", []string{"/srv/work/.."}, []string{"/srv/work", "/srv/work/", "/srv"}},
		{"list \"/srv/work/..\".", []string{"/srv/work/.."}, []string{"/srv/work", "/srv/work/"}},
		{"list **/srv/work/..**", nil, []string{"/srv/work", "/srv/work/"}},
		{"list ../work/..", nil, []string{"../work"}},
		{"list v5/work/..", nil, []string{"v5/work", "v5"}},
		{`list C:\work\..`, nil, []string{`C:\work`, `C:\work\`}},
		{"open https://h.test/a/..", nil, []string{"https://h.test/a", "h.test/a", "https://h.test"}},
		{"list ~/work/../.", []string{"~/work/.."}, []string{"~/work"}},
		{"list /srv/work/../", []string{"/srv/work/.."}, []string{"/srv/work"}},
		{"go test /tmp/a/...", []string{"/tmp/a/..."}, []string{"/tmp/a", "/tmp/a/"}},
		{"go test ./...", []string{"./..."}, []string{"./", "."}},
		{"delete /tmp/a/?", []string{"/tmp/a/?"}, []string{"/tmp/a", "/tmp/a/"}},

		// Patterns, and what goes on behind a quote.
		{"delete `/tmp/a`*", nil, []string{"/tmp/a"}},
		{"delete \"/tmp/a\"**.", nil, []string{"/tmp/a"}},
		{"delete \"/tmp/a\"?b", nil, []string{"/tmp/a"}},
		{"delete \"/tmp/a\"[12]", nil, []string{"/tmp/a"}},
		{"delete \"/tmp/a\"@1", nil, []string{"/tmp/a"}},
		{"delete all but !/tmp/a/*", []string{"!/tmp/a/*"}, []string{"/tmp/a/*", "/tmp/a/"}},
		{"delete all but !\"/tmp/a/*\"", nil, []string{"/tmp/a/*"}},
		{"delete !docs/a", nil, []string{"docs/a"}},
		{"delete ?/a/b", nil, []string{"/a/b"}},
		{"add @v69/pkg", []string{"@v69/pkg"}, []string{"v69/pkg"}},
		{"add @v69/pkg!", []string{"@v69/pkg"}, []string{"v69/pkg"}},
		{"mail \"v33@corp.test\"@evil.example", nil, []string{"v33@corp.test"}},
		{"mail <v33@corp.test>@evil.example", nil, []string{"v33@corp.test"}},
		{"mail `alma`@evil.example", nil, []string{"alma"}},
	} {
		known := map[string]bool{}
		visitPhrases(c.says, func(phrase string) { known[phrase] = true })
		for _, value := range c.his {
			if !known[value] {
				t.Errorf("%q: %q is no phrase", c.says, value)
			}
		}
		for _, value := range c.not {
			if known[value] {
				t.Errorf("%q: %q is a phrase", c.says, value)
			}
		}
	}
}

// Names of arguments count where nobody has said which arguments decide.
func TestNamesOfArgumentsDecide(t *testing.T) {
	state := t.TempDir()
	_, _, mail := house(t, state)
	if err := HearUser(state, []string{"session:1"}, "say hello"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"text":"hello"}`:             "allow",
		`{"max_size":"hello"}`:         "allow",
		`{"eve@evil.example":"hello"}`: "prompt",
		`{"text":{"eve":"hello"}}`:     "prompt",
		`{"text":{"value":"hello"}}`:   "allow",
		`{"a b":"hello"}`:              "prompt",
	} {
		if got := weighed(mail, tool("say", args)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// A call that a person let go is another one where its names are others.
func TestAllowedIsExact(t *testing.T) {
	state := t.TempDir()
	_, _, mail := house(t, state)
	mail.Allowed([]policy.Call{tool("send", `{"to":{"team":{"carl":true}}}`)})
	for args, want := range map[string]string{
		`{"to":{"team":{"carl":true}}}`:  "allow",
		`{"to":{"team":{"dora":true}}}`:  "prompt",
		`{"to":{"team":{"carl":{}}}}`:    "prompt",
		`{"to":{"carl":{"team":true}}}`:  "prompt",
		`{"to":[{"team":"carl"},true]}`:  "prompt",
		`{"to":{"team":{"carl":false}}}`: "prompt",
	} {
		if got := weighed(mail, tool("send", args)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// Each phrase of what was typed stands in it, but for its blanks and letters, and none is a
// value that has other bytes within.
func FuzzPhrases(f *testing.F) {
	f.Add("delete **/home/ana/{a,b}/c** now", "/home/ana")
	f.Add("to Alma's <alma@corp.test>, (and) \"bob\"", "alma")
	f.Add("delete \"/home/ana/a (b)\" and /x\\ y and `pwd`/z, a,/b", "/home/ana/a")
	f.Add("one two three four five six seven eight nine ten", "one two three four five six seven eight nine ten")
	f.Fuzz(func(t *testing.T, text, value string) {
		if !utf8.ValidString(text) || !utf8.ValidString(value) {
			t.Skip() // no frame has it
		}
		known := map[string]bool{}
		even := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
		visitPhrases(text, func(phrase string) {
			known[phrase] = true
			if web := strings.TrimSuffix(strings.TrimPrefix(even(phrase), "https://"), "/"); !strings.Contains(even(text), web) && !strings.Contains(text, `\ `) && !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
				t.Errorf("%q is a phrase of %q", phrase, text)
			}
		})
		inPath := false
		for _, p := range splitPieces(text, true, nil) {
			if one := text[p.from:p.end]; !inPath && !p.glued && !known[one] {
				t.Errorf("%q of %q is no phrase", one, text)
			}
			inPath = p.glued
		}
	})
}

// What somebody types costs little, whatever it is made of.
func TestPhrasesAreBounded(t *testing.T) {
	for _, text := range []string{"a,", "a ", "(", "*a", "//", "a:", "a.b,", "x's ", "{a}", "é”"} {
		n, length := 0, 0
		visitPhrases(strings.Repeat(text, maxSaid/len(text)), func(phrase string) {
			n++
			length += len(phrase)
		})
		if n > 100*maxSaid || length > 4000*maxSaid {
			t.Errorf("%q has %d phrases of %d bytes", text, n, length)
		}
	}
}
