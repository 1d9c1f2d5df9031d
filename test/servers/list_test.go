package servers

// server is one that is compared.
type server struct {
	name string   // of its package; "go:" and a program of the Go SDK's examples
	args []string // SITE is a folder with one file
	env  []string
	http bool // it speaks HTTP, too

	caged bool // it is run in a sandbox alone (TestCagedServers)
}

// servers are those of npm and of Go. Each starts without a network: what it is given for keys is made
// up, so it can list what it has, and refuse arguments that do not fit.
var servers = []server{
	{name: "@modelcontextprotocol/server-everything"},
	{name: "@modelcontextprotocol/server-filesystem", args: []string{"SITE"}},
	{name: "@modelcontextprotocol/server-memory", env: []string{"MEMORY_FILE_PATH=SITE/memory.json"}},
	{name: "@modelcontextprotocol/server-sequential-thinking"},
	{name: "@modelcontextprotocol/server-github", env: []string{"GITHUB_PERSONAL_ACCESS_TOKEN=x"}},
	{name: "@modelcontextprotocol/server-slack", env: []string{"SLACK_BOT_TOKEN=x", "SLACK_TEAM_ID=x"}},
	{name: "@playwright/mcp", args: []string{"--headless"}},
	{name: "@upstash/context7-mcp"},
	{name: "firecrawl-mcp", env: []string{"FIRECRAWL_API_KEY=x"}},
	{name: "mcp-server-commands"},
	{name: "@antv/mcp-server-chart"},
	{name: "@agent-infra/mcp-server-filesystem", args: []string{"--allowed-directories", "SITE"}},
	{name: "@accesslint/mcp"},
	{name: "@eslint/mcp"},
	{name: "@notionhq/notion-mcp-server", env: []string{"NOTION_TOKEN=x"}},
	{name: "tavily-mcp", env: []string{"TAVILY_API_KEY=x"}},
	{name: "airtable-mcp-server", env: []string{"AIRTABLE_API_KEY=patx.x"}, caged: true},
	{name: "@brave/brave-search-mcp-server", args: []string{"--transport", "stdio"}, env: []string{"BRAVE_API_KEY=x"}, caged: true},
	{name: "@modelcontextprotocol/server-brave-search", env: []string{"BRAVE_API_KEY=x"}, caged: true},
	{name: "exa-mcp-server", env: []string{"EXA_API_KEY=x"}, caged: true},
	{name: "@modelcontextprotocol/server-gitlab", env: []string{"GITLAB_PERSONAL_ACCESS_TOKEN=x"}, caged: true},
	{name: "@modelcontextprotocol/server-google-maps", env: []string{"GOOGLE_MAPS_API_KEY=x"}, caged: true},
	{name: "@modelcontextprotocol/server-everart", env: []string{"EVERART_API_KEY=x"}, caged: true},
	{name: "@kazuph/mcp-fetch", caged: true},
	{name: "@perplexity-ai/mcp-server", env: []string{"PERPLEXITY_API_KEY=x"}, caged: true},
	{name: "@pinecone-database/mcp", env: []string{"PINECONE_API_KEY=x"}, caged: true},
	{name: "linear-mcp-server", env: []string{"LINEAR_API_KEY=x"}, caged: true},
	{name: "mcp-server-kubernetes", caged: true},
	{name: "mcp-obsidian", args: []string{"SITE"}, caged: true},
	{name: "@mapbox/mcp-server", env: []string{"MAPBOX_ACCESS_TOKEN=x"}, caged: true},
	{name: "@zereight/mcp-gitlab", env: []string{"GITLAB_PERSONAL_ACCESS_TOKEN=x"}, caged: true},
	{name: "@circleci/mcp-server-circleci", env: []string{"CIRCLECI_TOKEN=x"}, caged: true},
	{name: "@line/line-bot-mcp-server", env: []string{"CHANNEL_ACCESS_TOKEN=x", "DESTINATION_USER_ID=x"}, caged: true},
	{name: "go:everything", http: true},
	{name: "go:hello"},
	{name: "go:memory", http: true},
	{name: "go:sequentialthinking", http: true},
}
