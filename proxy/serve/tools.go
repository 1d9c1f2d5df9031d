package serve

import "errors"

// The names of the tools. No tool may ever answer questions, show or try rules, read others'
// records, change settings or start anything. Otherwise an agent could read or decide its own
// approvals.
const (
	statusTool = "clawai_status"
	vaultTool  = "clawai_vault"
)

// tool is a tool of this server.
type tool struct {
	name      string
	arguments []string
	entry     string // the tool's entry in tools/list, as JSON
	run       func(o Options, args map[string]string) (any, error)
}

// Values for the argument detail of clawai_status.
const (
	Summary  = "summary"
	Activity = "activity"
)

var tools = []tool{
	{statusTool, []string{"detail"}, `{"name":"clawai_status",` +
		`"description":"What clawai, which guards this session, says of the session: how many calls it let through and refused, and what the session has seen. It changes nothing and shows no rules.",` +
		`"inputSchema":{"type":"object","properties":{"detail":{"type":"string","enum":["summary","activity"],"default":"summary"}},"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runStatusTool},
	{vaultTool, []string{"skill", "key"}, `{"name":"clawai_vault",` +
		`"description":"The value of a credential that the owner lets agents read. A server needs none of it in the conversation: its owner writes clawai-vault:NAME into the server's environment, and clawai fills it in.",` +
		`"inputSchema":{"type":"object","properties":{"skill":{"type":"string","description":"whose credential it is"},"key":{"type":"string","description":"its name"}},"required":["skill","key"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runSecretTool},
}

func runStatusTool(o Options, args map[string]string) (any, error) {
	detail := args["detail"]
	switch detail {
	case "":
		detail = Summary
	case Summary, Activity:
	default:
		return nil, errors.New("detail is summary or activity")
	}
	return o.Status(detail)
}

func runSecretTool(o Options, args map[string]string) (any, error) {
	skill, key := args["skill"], args["key"]
	if skill == "" || key == "" {
		return nil, errArguments
	}
	value, err := o.Secret(skill, key)
	if err != nil {
		return nil, err
	}
	return map[string]string{"value": value, "skill": skill, "key": key}, nil
}
