package shell

import "testing"

// What an awk would run or write is refused, however it is cut into tokens.
func TestAwkPrograms(t *testing.T) {
	for program, reads := range map[string]bool{
		`{print $1}`: true, `$3 > 5`: true, `$3 >= 5 && $4 < 2 || /x/`: true, `NR==1 || $2 == "x" {print $0}`: true,
		`{ if ($1 > 2) print $2; else print "a > b" }`: true, `{print ($1 > 2)}`: true, `/a|b/ {n++} END {print n}`: true,
		`BEGIN {FS="|"} {print $1}`: true, `{printf("%d %s\n", $1 > 3, $2)}`: true, `{a[$1]+=$2} END {for (k in a) print k, a[k]}`: true,
		`{print $1/1024}`: true, `{print ($1+$2)/2}`: true, `$0 ~ "@" {print}`: true, `/@/`: true, `/[[:space:]]+/ {next} {print}`: true,
		`{gsub(/[|>]/, ""); print}`: true, `!/^#/`: true, "# note > x\n{print}": true, `{print "x" > "/dev/stderr"}`: true,
		"{print $1,\n $2}\n$3 > 4": true, `{split($0, a, /,/); print a[1]}`: true, `length > 80`: true, `length($0) > 80`: true,
		`{print $1 > 5}`: false, `{print > "f"}`: false, `{print >> "f"}`: false, `{print $1 | "sh"}`: false, `BEGIN {system("id")}`: false,
		`BEGIN {"id" | getline x}`: false, `{print $1,
 $2 > "f"}`: false, "{print a ?\n b : c > \"f\"}": false, "{print 1 +\n 2 > \"f\"}": false, `{print (1)(2) > "f"}`: false,
		`@load "x"`: false, `BEGIN {f="system"; @f("id")}`: false, `{print $1 |& "sh"}`: false, `{printf "%s", $1 > $2}`: false,
		`exit /"/ ; {print "a" > "f"} /"/`: false, `length /"/ {print "a" > "f"} /"/`: false, `(1) /"/ {print "a" > "f"} /"/`: false,
		`/[/"]/ {print > "f"} /"/`: false, `/[[:alpha:]/"]/ {print > "f"} /"/`: false, `case /"/: {print > "f"} /"/`: false,
		`{print "a`: false, `/a`: false, "{print \"a\\\n\"}": false, `{print}\`: false, `{print > "/dev/stderr" ".x"}`: false, `)(`: false,
		`{print > "/dev/stderr/../x"}`: false, `{x = 1; print x;print > "f"}`: false, `{if (x) print > "f"}`: false, `{print(x)>"f"}`: false,
		`x++ /"/ {print > "f"} /"/`: false, `{print x, (y) > "f"}`: false, `$1 { print } | "sh"`: false, `{ print $(1) > "f" }`: false,
	} {
		if got := awkReads(program); got != reads {
			t.Errorf("%q: %v", program, got)
		}
	}
}

func FuzzAwk(f *testing.F) {
	for _, s := range []string{`{print $1}`, `/[[:x:]]/`, `"a" > 1`, `(1)/2`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if awkReads(s) && awkReads(s+"\n;{print > \"f\"}") {
			t.Errorf("%q: a print to a file is not seen behind it", s)
		}
	})
}
