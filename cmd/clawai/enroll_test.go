package main

import (
	"encoding/json"
	"os"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/centretest"
)

// scriptCentres are the centres that scripts have started, by the script's folder.
var scriptCentres sync.Map

// centreInScript is a team's centre, for a script:
//
//	centre start [DAYS RULE]   sets $CENTRE, its address, and writes team.key and team.key.pub
//	centre publish FILE        gives laptops a bundle
//	centre answers CODE        refuses the next enrolments
//	centre fails STATUS        fails every request; 0 ends that
//	centre owner FILE          says that laptops belong to whom the JSON describes; "nobody" ends that
//	centre holds N             demands N segments that are not empty
//	centre heard TEXT          demands that the last report holds an error with a text
func centreInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: centre WORD [ARGS...]")
	}
	if args[0] == "start" {
		c, err := centretest.Open()
		ts.Check(err)
		ts.Defer(c.Close)
		if len(args) == 3 {
			days, err := strconv.Atoi(args[1])
			ts.Check(err)
			c.Offline = enrolment.Offline{Days: days, Then: args[2]}
		}
		scriptCentres.Store(ts.Getenv("WORK"), c)
		ts.Setenv("CENTRE", c.URL())
		ts.Check(os.WriteFile(ts.MkAbs("team.key"), []byte(c.Secret+"\n"), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs("team.key.pub"), []byte(c.Public+"\n"), 0o600))
		return
	}
	found, ok := scriptCentres.Load(ts.Getenv("WORK"))
	if !ok || len(args) != 2 {
		ts.Fatalf("centre start comes first, and %s has one argument", args[0])
	}
	c, ok := found.(*centretest.Centre)
	if !ok {
		ts.Fatalf("%T is no centre", found)
	}
	switch args[0] {
	case "publish":
		c.Publish([]byte(ts.ReadFile(args[1])))
	case "owner":
		if args[1] == "nobody" {
			c.Tell(nil)
			return
		}
		var who enrolment.Identity
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &who))
		c.Tell(&who)
	case "answers":
		c.Refuse(args[1])
	case "fails":
		status, err := strconv.Atoi(args[1])
		ts.Check(err)
		c.Fail(status)
	case "holds":
		want, err := strconv.Atoi(args[1])
		ts.Check(err)
		n := 0
		texts, _ := c.Segments()
		for _, text := range texts {
			if text != "" {
				n++
			}
		}
		if n != want {
			ts.Fatalf("the centre holds %d segments, want %d", n, want)
		}
	case "heard":
		reports := c.Reports()
		if len(reports) == 0 || reports[len(reports)-1].Error != args[1] {
			ts.Fatalf("the centre heard %+v, want the error %q", reports, args[1])
		}
	default:
		ts.Fatalf("centre has no word %q", args[0])
	}
}
