package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// asksTeam is a rule in the short form, that asks approvers.
const asksTeam = "prompt tool=deploy approvers=<['role:oncall']>"

// toolRules is rules, but leaves the _ in names of tools.
func toolRules(short string) string {
	return strings.ReplaceAll(rules(strings.ReplaceAll(short, "_", "%")), "%", "_")
}

func actorsIn(r *lint.Report) (found []check.Finding) {
	for _, f := range r.Findings {
		if f.Code == lint.ActsAmongApprovers {
			found = append(found, f)
		}
	}
	return found
}

// An agent that writes or clicks where approvers are asked is found, whatever names its tool or its server.
func TestActorsAmongApprovers(t *testing.T) {
	recorded := lint.Options{Servers: map[string][]string{"slack-work": {"post_it", "read_channel"}, "files": {"write_file"}}}
	for name, c := range map[string]struct {
		rules    string
		options  lint.Options
		severity check.Severity
		says     string
		call     string
	}{
		"a tool of the catalogue":  {"allow tool=slack_post_message", lint.Options{}, check.Warning, "write in a chat by slack_post_message", `tool slack_post_message at server "slack" is allowed by the rule on line 5`},
		"one with no such word":    {"allow tool=conversations_add_message", lint.Options{}, check.Warning, "conversations_add_message", ""},
		"the hosted server":        {"allow tool=slack_send_message", lint.Options{}, check.Warning, "slack_send_message", ""},
		"a wildcard":               {"allow tool=slack_*", lint.Options{}, check.Warning, "slack_post_message", ""},
		"all tools of a server":    {"allow tool=** server=slack-work", lint.Options{}, check.Warning, "slack_post_message", `at server "slack-work"`},
		"a chat of no row":         {"allow tool=** server=my-Discord", lint.Options{}, check.Warning, "discord_send_message", `at server "my-Discord"`},
		"a tool of such a chat":    {"allow tool=post_to_channel server=teams", lint.Options{}, check.Warning, "post_to_channel", ""},
		"all tools of such a chat": {"allow tool=discord_*", lint.Options{}, check.Warning, "discord_send_message", ""},
		"a name of a tool":         {"allow tool=telegram_reply", lint.Options{}, check.Warning, "telegram_reply", ""},
		"by the record":            {"allow tool=**", recorded, check.Warning, "post_it", `at server "slack-work"`},
		"all other tools":          {"prompt tool=slack_post_message; allow tool=**", lint.Options{}, check.Warning, "slack_reply_to_thread", ""},
		"a table":                  {"allow tool=**", lint.Options{}, check.Warning, "slack_post_message", ""},
		"at some times":            {"allow tool=slack_post_message when=<{from='09:00',to='17:00'}>", lint.Options{}, check.Warning, "slack_post_message", ""},
		"for some agents":          {"allow tool=slack_post_message agent=claude", lint.Options{}, check.Warning, "slack_post_message", ""},
		"any channel":              {"allow tool=slack_post_message args.channel_id=**", lint.Options{}, check.Warning, "slack_post_message", ""},
		"a condition on the text":  {"allow tool=slack_post_message args.text=hello*", lint.Options{}, check.Warning, "slack_post_message", ""},
		"a deny on the text":       {"deny tool=slack_post_message args.text=*xyzzy*; prompt tool=slack_reply_to_thread; allow tool=slack_post_message", lint.Options{}, check.Warning, "slack_post_message", ""},
		"another chat":             {"allow tool=** server=google-chat", lint.Options{}, check.Warning, "googlechat_send_message", ""},
		"mail":                     {"allow tool=send_email", lint.Options{}, check.Note, "write mail by send_email", ""},
		"a browser":                {"allow tool=browser_*", lint.Options{}, check.Note, "click in a browser by browser_click", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := toolRules(asksTeam + "; " + c.rules)
			if name == "a table" {
				text += "[server.slack]\nsecret_data = \"private\"\n[flow]\nlevel = \"watch\"\n"
			}
			found := actorsIn(run(t, text, c.options))
			if len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
			f := found[0]
			if f.Severity != c.severity || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Message, "the approvers of the rule on line 1") || !strings.Contains(f.Call, c.call) || !strings.Contains(f.Call, "is allowed") {
				t.Errorf("got %s: %s\n%s", f.Severity, f.Message, f.Call)
			}
			if f.Why == "" || f.Fix == "" || len(f.Related) != 1 || len(f.Fixture) == 0 {
				t.Errorf("incomplete: %+v", f)
			}
		})
	}
}

// Where an agent only reads, where a person or a list of channels stands before it, and where no rule asks approvers,
// there is nothing to say.
func TestNoActorsAmongApprovers(t *testing.T) {
	for name, short := range map[string]string{
		"no approvers":             "prompt tool=deploy; allow tool=slack_*",
		"asked":                    asksTeam + "; prompt tool=slack_*; allow tool=*",
		"asked by a later rule":    asksTeam + "; allow tool=slack_list_channels; prompt tool=slack_*",
		"denied":                   asksTeam + "; deny tool=slack_*; allow tool=*",
		"named channels":           asksTeam + "; allow tool=slack_post_message args.channel_id=C1",
		"other channels":           asksTeam + "; prompt tool=slack_post_message|slack_reply_to_thread args.channel_id=C1; allow tool=slack_*",
		"reads":                    asksTeam + "; allow tool=slack_get_users|slack_search_public|conversations_history|browser_snapshot|read_email|discord_get_message",
		"a draft":                  asksTeam + "; allow tool=slack_send_message_draft|draft_email",
		"teams of people":          asksTeam + "; allow tool=add_teams_member|list_teams",
		"a wildcard over no chat":  asksTeam + "; allow tool=*; allow tool=send_**",
		"tools of something else":  asksTeam + "; allow tool=post_comment server=github; allow tool=**",
		"a chat with a model":      asksTeam + "; allow tool=** server=deepseek-chat",
		"only navigates":           asksTeam + "; allow tool=browser_navigate",
		"an allow that never wins": "prompt tool=** approvers=<['role:oncall']>; allow tool=slack_post_message",
	} {
		t.Run(name, func(t *testing.T) {
			if found := actorsIn(run(t, toolRules(short), lint.Options{})); len(found) > 0 {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// The team's rule with approvers is often in its bundle, and the allow in the laptop's own policy.
func TestActorsUnderALayer(t *testing.T) {
	parse := func(name, text string, o policy.Options) *policy.Policy {
		o.Home, o.Disk = "/home/u", disk.PlainDisk()
		p, err := policy.Parse(name, []byte(text), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for layer, found := range map[string]bool{
		asksTeam: true, "prompt tool=deploy": false, asksTeam + "; prompt tool=slack_*": false, asksTeam + "; deny tool=slack_post_message|slack_reply_to_thread|slack_send_message|send_message": false,
	} {
		own := toolRules("allow tool=slack_*")
		team := parse("team.toml", toolRules(layer), policy.Options{Layer: "organisation"})
		whole := parse("p.toml", own, policy.Options{Above: []*policy.Policy{team}})
		got := actorsIn(lint.Run(parse("p.toml", own, policy.Options{}), []byte(own), lint.Options{Whole: whole}))
		if (len(got) == 1) != found {
			t.Errorf("%s: %+v", layer, got)
		}
		if found && (got[0].Pos.File != "p.toml" || got[0].Related[0].Pos.File != "team.toml" || !strings.Contains(got[0].Message, "the rule at team.toml:1")) {
			t.Errorf("%+v", got[0])
		}
	}
	own := toolRules("allow tool=slack_*")
	if got := actorsIn(lint.Run(parse("p.toml", own, policy.Options{}), []byte(own), lint.Options{})); len(got) > 0 {
		t.Errorf("without the layer: %+v", got)
	}
}

// A starter policy beside a rule with approvers gives no warning: it asks before a message is sent.
func TestStartersAmongApprovers(t *testing.T) {
	for _, s := range fixtures.ListProfiles() {
		src, err := fixtures.ComposePolicy(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		found := actorsIn(run(t, string(src)+toolRules(asksTeam), lint.Options{}))
		if i := slices.IndexFunc(found, func(f check.Finding) bool { return f.Severity.Compare(check.Warning) >= 0 }); i >= 0 {
			t.Errorf("%s: %s", s.Name, found[i].Message)
		}
	}
}

// Whoever brings approvers and an extended allow together is told so at the own rule, which is theirs to change.
func TestActorsByExtends(t *testing.T) {
	const writes = "allow tool=** server=slack"
	for own, found := range map[string]string{
		asksTeam:             "slack_post_message (the rule at team.toml:1)",
		"prompt tool=deploy": "",
		asksTeam + "; prompt tool=** server=slack": "",
	} {
		got := actorsIn(extending(t, own, writes))
		if (len(got) == 1) != (found != "") || len(got) == 1 && (got[0].Pos.File == "team.toml" || !strings.Contains(got[0].Message, found) || !strings.Contains(got[0].Fix, "above those of extends")) {
			t.Errorf("%s: %+v", own, got)
		}
	}
	if got := actorsIn(extending(t, writes, asksTeam)); len(got) != 1 || strings.Contains(got[0].Message, "(the rule") {
		t.Errorf("%+v", got)
	}
	if got := actorsIn(extending(t, "", asksTeam+"; "+writes)); len(got) > 0 {
		t.Errorf("the file with both is not this one: %+v", got)
	}
}
