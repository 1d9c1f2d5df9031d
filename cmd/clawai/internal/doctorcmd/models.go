package doctorcmd

import (
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/wrap"
)

// checkModels returns findings about clients whose requests to a model should go through clawai
// llm-proxy, but do not or cannot.
func checkModels(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return nil
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return nil // another check reports this error
	}
	s, err := f.FindModels(p.ctx)
	if err != nil {
		return []finding{{Health: broken, Text: err.Error(), Fix: "rm " + cmdline.Quote([]string{wrap.ModelRoutesFile(p.folders.State)}) + "; clawai wrap --llm --all"}}
	}
	if s.Stopped != "" {
		all = append(all, finding{Health: broken, Text: "clients were told to reach their models at " + s.Listen + ", and " + s.Stopped, Fix: s.NextCommand()})
	}
	led := 0
	for _, m := range s.Clients {
		switch {
		case m.State == wrap.ModelDrifted:
			all = append(all, finding{Health: broken, Text: m.Name + ": " + m.Why, Fix: "clawai wrap --llm " + m.Client + "; or take it out: clawai unwrap --llm " + m.Client})
		case m.Unseen:
			all = append(all, finding{Health: doubtful, Text: m.Name + ": " + wrapcmd.UnseenText, Fix: "start it again; clawai doctor --live " + m.Client})
		case m.State == wrap.ModelLed:
			led++
		}
	}
	if all == nil && led > 0 {
		return healthyFinding("%s to the model through clawai llm-proxy, which runs", cmdline.CountText(led, "1 client goes", "%d clients go"))
	}
	return all
}
