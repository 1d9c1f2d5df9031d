// Package proxyargs defines the options of clawai proxy. The command itself uses them, and so does
// code that reads a command line of clawai proxy in a client's file.
package proxyargs

// ValueKind tells which value an option has.
type ValueKind uint8

// Values of ValueKind.
const (
	Text   ValueKind = iota // one value; if the option is repeated, the proxy uses the last value
	List                    // one value; if the option is repeated, the proxy uses all values
	Switch                  // no value, or a boolean after =
)

// Channels is a placeholder in a Usage. The help has the words of all channels in its place.
const Channels = "CHANNELS"

// Option is one option of clawai proxy.
type Option struct {
	Name   string
	Kind   ValueKind
	Preset string // value of a Text option if the option is missing
	Usage  string // help text; the name of the value is in backquotes
	Hidden bool   // the option is not in the help
}

// ListOptions returns all options except --help, in the order of the help. No caller changes them.
func ListOptions() []Option { return options }

var options = []Option{
	{Name: "server", Usage: "the server's `NAME` in the client's configuration, for rules with a server condition"},
	{Name: "policy", Usage: "the policy `FILE` (default: policy.toml in the configuration folder)"},
	{Name: "layer", Kind: List, Usage: "another policy `FILE`, which can only tighten that one; repeat for more"},
	{Name: "ask", Usage: "the ways to ask a person, first to last: `LIST` of " + Channels + "; or never"},
	{Name: "ask-timeout", Usage: "how long a call waits for a person, like `45s`; clients give up at about 60s"},
	{Name: "max-frame", Preset: "64MiB", Usage: "the longest message that is passed on: `SIZE` in KiB, MiB or bytes"},
	{Name: "deny-as", Preset: "result", Usage: "answer a denied tool call with a tool `result`, or with a JSON-RPC error"},
	{Name: "observe", Kind: Switch, Usage: "enforce nothing: let every call pass, and record what the policy says of it"},
	{Name: "redact", Preset: "redacted", Usage: "what the record keeps of secrets: `redacted`, hash, or full"},
	{Name: "sync", Preset: "none", Usage: "when the record waits for the disk, against power failures: `none`, interval (once a second, beside the calls), or each"},
	{Name: "header-file", Kind: List, Usage: "a `FILE` that only you can read, with headers for a remote server: lines Name: value; ${NAME} is taken from the environment; with --listen also NAME=FILE, only for that --upstream; repeat for more"},
	{Name: "was", Hidden: true, Usage: "what wrap has replaced in a client's file, for unwrap; of it the proxy heeds type=sse"},
	{Name: "client-sandbox", Kind: List, Hidden: true, Usage: "a `RULE` of the sandbox that the client's file has for the server, as wrap carries it: KEY=VALUE, the first sandboxEnabled; repeat for more"},
	{Name: "state", Usage: "the `DIR` for the record (default: the state folder)"},
	{Name: "listen", Usage: "serve remote servers, or the hub, to clients that speak HTTP, at `ADDRESS:PORT`; needs --upstream or --hub"},
	{Name: "upstream", Kind: List, Usage: "a remote server to serve: `NAME=URL`, or URL alone; repeat for more"},
	{Name: "wrapped", Kind: Switch, Usage: "serve the servers that clawai wrap --remote=proxy led here"},
	{Name: "hub", Kind: Switch, Usage: "with --listen: serve the servers of config.toml as one, each client with servers of its own"},
	{Name: "only", Kind: List, Usage: "only these servers of --hub: `ID,ID`; repeat for more"},
	{Name: "invocations", Kind: Switch, Usage: "with --listen: serve only the runs of agents that an owner begins and ends with a token, each with a state of its own"},
	{Name: "host", Kind: List, Usage: "another host `NAME` by which clients reach --listen"},
	{Name: "metrics", Usage: "with --listen: serve /healthz and /metrics (Prometheus) to the operator, at another `ADDRESS:PORT`"},
	{Name: "origin", Kind: List, Usage: "a web `ORIGIN` whose pages may use --listen"},
	{Name: "pass-header", Kind: List, Usage: "also pass a client's header `NAME` on to its server; repeat for more"},
	{Name: "tls-cert", Usage: "the certificate `FILE` for --listen"},
	{Name: "tls-key", Usage: "the key `FILE` for --tls-cert; only you can read it"},
}
