package screen

// LaterPlaces are what makes code run later, without anybody asking for it then: who
// writes there is past every rule about commands. What only says what a person or a
// program may start by name is none (package.json, Makefile): work would be one long
// warning, and whoever starts it is judged then.
var LaterPlaces = [...]Place{
	{Path: ".bashrc", Hit: "~/.bashrc", Miss: "/p/bashrc.md"},
	{Path: ".bash_profile", Hit: "~/.bash_profile", Miss: "/p/bash_profile"},
	{Path: ".bash_login", Hit: "~/.bash_login", Miss: "/p/bash_login"},
	{Path: ".bash_logout", Hit: "~/.bash_logout", Miss: "/p/bash_logout"},
	{Path: ".profile", Hit: "~/.profile", Miss: "/p/profile.go"},
	{Path: ".zshrc", Hit: "~/.zshrc", Miss: "/p/zshrc.txt"},
	{Path: ".zshenv", Hit: "~/.zshenv", Miss: "/p/zshenv.txt"},
	{Path: ".zprofile", Hit: "~/.zprofile", Miss: "/p/zprofile"},
	{Path: "config.fish", Hit: "~/.config/fish/config.fish", Miss: "/p/fish.go"},
	{Path: "*profile.ps1", Hit: `C:\Users\a\Documents\PowerShell\Microsoft.PowerShell_profile.ps1`, Miss: "/p/profile.ps1.md"},
	{Path: ".envrc", Hit: "/p/.envrc", Miss: "/p/envrc.md"},
	{Path: ".vimrc", Hit: "~/.vimrc", Miss: "/p/vimrc.md"},
	{Path: ".gitconfig", Hit: "~/.gitconfig", Miss: "/p/.gitignore"},
	{Path: ".git/hooks", Hit: "/p/.git/hooks/pre-commit", Miss: "/p/hooks/use.ts"},
	{Path: ".husky", Hit: "/p/.husky/pre-commit", Miss: "/p/husky.md"},
	{Path: ".pre-commit-config.yaml", Hit: "/p/.pre-commit-config.yaml", Miss: "/p/pre-commit.md"},
	{Path: ".devcontainer*", Hit: "/p/.devcontainer/devcontainer.json", Miss: "/p/devcontainer.md"},
	{Path: ".github/workflows", Hit: "/p/.github/workflows/ci.yml", Miss: "/p/.github/labels.yml"},
	{Path: ".github/actions", Hit: "/p/.github/actions/x/action.yml", Miss: "/p/actions/x.yml"},
	{Path: ".gitlab-ci.yml", Hit: "/p/.gitlab-ci.yml", Miss: "/p/gitlab.md"},
	{Path: ".circleci", Hit: "/p/.circleci/config.yml", Miss: "/p/circleci.md"},
	{Path: "Jenkinsfile", Hit: "/p/Jenkinsfile", Miss: "/p/jenkins.md"},
	{Path: "azure-pipelines.yml", Hit: "/p/azure-pipelines.yml", Miss: "/p/azure.md"},
	{Path: "bitbucket-pipelines.yml", Hit: "/p/bitbucket-pipelines.yml", Miss: "/p/bitbucket.md"},
	{Path: ".travis.yml", Hit: "/p/.travis.yml", Miss: "/p/travis.md"},
	{Path: ".drone.yml", Hit: "/p/.drone.yml", Miss: "/p/drone.md"},
	{Path: ".woodpecker*", Hit: "/p/.woodpecker/ci.yml", Miss: "/p/woodpecker.md"},
	{Path: ".buildkite", Hit: "/p/.buildkite/pipeline.yml", Miss: "/p/buildkite.md"},
	{Path: "*lefthook.y*ml", Hit: "/p/.lefthook.yml", Miss: "/p/lefthook.md"},
	{Path: "authorized_keys", Hit: "/srv/git/authorized_keys", Miss: "/p/authorized_keys.go"},
	{Path: ".config/autostart", Hit: "~/.config/autostart/x.desktop", Miss: "/p/autostart.go"},
	{Path: ".config/systemd", Hit: "~/.config/systemd/user/x.service", Miss: "/p/systemd/x.service"},
	{Path: "Library/LaunchAgents", Hit: "~/Library/LaunchAgents/x.plist", Miss: "/p/LaunchAgents.md"},
	{Path: "Library/LaunchDaemons", Hit: "/Library/LaunchDaemons/x.plist", Miss: "/p/Library/daemons.md"},
	{Path: "Programs/Startup", Hit: `C:\Users\a\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Startup\x.bat`, Miss: "/p/startup/x.bat"},
	{Path: "/etc/cron*", Hit: "/etc/cron.d/x", Miss: "/p/etc/cron.d/x"},
	{Path: "/var/spool/cron", Hit: "/var/spool/cron/root", Miss: "/p/cron.go"},
	{Path: "/etc/systemd", Hit: "/etc/systemd/system/x.service", Miss: "/p/etc/systemd/x"},
	{Path: "/etc/profile*", Hit: "/etc/profile.d/x.sh", Miss: "/p/etc/profile"},
	{Path: "/etc/ld.so.preload", Hit: "/etc/ld.so.preload", Miss: "/p/ld.so.preload"},
	{Path: ".vscode", Spare: is{"extensions.json"}, Of: Client, Hit: "/p/.vscode/tasks.json", Miss: "/p/.vscode/extensions.json"},
	{Path: ".idea/runConfigurations", Of: Client, Hit: "/p/.idea/runConfigurations/x.xml", Miss: "/p/.idea/misc.xml"},
	{Path: ".cursor/mcp.json", Of: Client, Hit: "/p/.cursor/mcp.json", Miss: "/p/.cursor/rules/x.md"},
	{Path: ".mcp.json", Of: Client, Hit: "/p/.mcp.json", Miss: "/p/mcp.jsonc"},
	{Path: "claude_desktop_config.json", Of: Client, Hit: "~/Library/Application Support/Claude/claude_desktop_config.json", Miss: "/p/claude.json"},
	{Path: ".claude/settings*", Of: Client, Hit: "/p/.claude/settings.local.json", Miss: "/p/.claude/notes.md"},
	{Path: ".claude.json", Of: Client, Hit: "~/.claude.json", Miss: "/p/claude.json"},
	{Path: ".codex/config.toml", Of: Client, Hit: "~/.codex/config.toml", Miss: "/p/codex/config.toml"},
	{Path: ".gemini/settings.json", Of: Client, Hit: "~/.gemini/settings.json", Miss: "/p/gemini/settings.json"},
	{Path: "CLAUDE*.md", Of: Agent, Hit: "/p/CLAUDE.md", Miss: "/p/docs/claude.txt"},
	{Path: "AGENTS*.md", Of: Agent, Hit: "/p/AGENTS.md", Miss: "/p/docs/agents.txt"},
	{Path: "GEMINI.md", Of: Agent, Hit: "/p/GEMINI.md", Miss: "/p/docs/gemini.txt"},
	{Path: "QWEN.md", Of: Agent, Hit: "/p/QWEN.md", Miss: "/p/docs/qwen.txt"},
	{Path: "copilot-instructions.md", Of: Agent, Hit: "/p/.github/copilot-instructions.md", Miss: "/p/docs/copilot.md"},
	{Path: ".cursorrules", Of: Agent, Hit: "/p/.cursorrules", Miss: "/p/cursorrules.md"},
	{Path: ".cursor/rules", Of: Agent, Hit: "/p/.cursor/rules/x.mdc", Miss: "/p/rules/x.mdc"},
	{Path: ".windsurfrules", Of: Agent, Hit: "/p/.windsurfrules", Miss: "/p/windsurf.md"},
	{Path: ".clinerules", Of: Agent, Hit: "/p/.clinerules", Miss: "/p/cline.md"},
	{Path: ".goosehints", Of: Agent, Hit: "/p/.goosehints", Miss: "/p/goose.md"},
}

// BuildFiles are files whose programs and scripts starters let agents run without a question:
// what is written there runs as unasked. Only rules need them, see above.
var BuildFiles = is{"Makefile", "makefile", "GNUmakefile", "package.json"}

// RunsLater are files that run by themselves later, of whatever holds them: below a
// project's folder and below the home folder. Who may write any file there may run
// anything.
var RunsLater = struct{ Project, Home []string }{
	Project: is{".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", ".github/workflows/ci.yml", ".husky/pre-commit"},
	Home:    is{".bashrc", ".profile", ".zshrc", ".config/autostart/a.desktop"},
}
