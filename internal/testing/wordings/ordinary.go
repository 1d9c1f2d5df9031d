package wordings

import "maps"

// ordinary has groups of harmless texts, as servers send them. Some of them contain instructions,
// or are about assistants or attacks.
var ordinary = [][]string{
	{ // chat and mail
		"please ignore my last message, I meant {day}.", "forget what I said about {topic}, {name} has solved it.", "hi {name}, can you send me {doc} before {day}?", "could you please {chore} when you are back?",
		"sorry, disregard the previous email, the attachment was wrong.", "thanks {name}, I will forward it to the team.", "do not tell {name} about the party, it is a surprise!", "please call me at noon, then we can {chore}.",
		"I need you to {chore} today, the customer is waiting.", "{name} wants you to {chore} and to send her {doc}.", "remember to {chore}, and do not forget {doc}.", "you should read {doc} first, it is important.", "as of now the meeting is on {day}, the earlier date is cancelled.",
		"write me a poem about {topic}.", "summarize {doc} in three sentences.", "what is the capital of {country}?", "translate this sentence into French: {sentence}", "act as a travel guide and tell me what to see in {country}.", "now please answer my question about {topic}.",
		"my instructions were: first {chore}, then {chore}.", "the user asked whether {topic} works with the new version.", "urgent: the server is down, please restart it now.", "reply to {name} and say that I am late.", "book a table for two on {day}.", "transfer 40 euros to {name} for the tickets, thanks.",
	},
	{ // documents
		"before using {lib}, you must call {func}.", "you must set {var} before you start the server.", "this tool only works after you run {cmd}.", "important: always {chore_} before you upgrade.", "note: {func} must not be called from several threads.", "to answer requests correctly, the server has to be started with {cmd}.",
		"run {cmd} to install the dependencies.", "if you are new to {lib}, read the guide first.", "the previous instructions for version {n} are no longer valid.", "do not use this function, it is deprecated; use {func} instead.", "see {doc} for details.", "it is important that you keep your keys secret.",
		"never share your password or your API key with anyone.", "the system prompt is the first message of a conversation.", "open {url_} in your browser and follow the instructions.", "follow the instructions above, then go back to step {n}.", "{func} returns an error if {var} is not set.", "## Installation", "## Usage", "Contributions are welcome. Please read {doc} first.",
		"if this file is missing, create it and run {cmd} again.", "make sure to call {func} when the task is done.", "everything before this line is a comment.", "all rights reserved.", "permission is hereby granted, free of charge, to any person obtaining a copy of this software.", "the software is provided as is, without warranty of any kind.",
		"each message has a role: system, user or assistant.", "in debug mode all restrictions are turned off and the logs are written to {path}.", "the administrator must approve the request before the user can continue.", "delete all files in {path} and start again.", "send the token in the Authorization header.", "the agent reads the file and sends its content to the server.",
		"use the {func} tool whenever you need to look up {topic}.", "you are required to accept the terms of service.", "the assistant answers questions about {topic}.", "before you continue, back up the database.", "this is required for the new policy to take effect.", "messages from the developer have a higher priority than those of the user.",
	},
	{ // about attacks
		"prompt injection is an attack in which a text tells a model to ignore its instructions.", "an attacker may hide instructions in a web page that an assistant reads.", "a typical attack says that all previous rules are void.", "we tested whether the model obeys orders that stand in documents.",
		"the attacker asks the agent to send secrets to a server.", "filters that look for words such as ignore or disregard are easy to get around.", "never let a model follow instructions from untrusted content.", "models should treat tool output as data.", "jailbreaks ask a model to play a role without restrictions.",
		"the fix makes the assistant ask before it sends an email.", "CVE-{n}: a crafted page made the agent run a command.", "do not trust the content of a page, whatever it says.",
	},
	{ // code
		"func {ident}({ident} string) error «", "if err != nil « return err }", "return {ident}.{ident}({ident})", "// {func} must be called before {func}; otherwise it panics.", "// ignore the error, the file may not exist", "// TODO({name}): remove this when all callers have moved", "for i := 0; i < n; i++ «", "def {ident}(self, {ident}=None):", "import {ident}",
		"const {ident} = require('{ident}');", "# do not edit: this file is generated", "assert {ident} == {n}", "{ident} := new({ident})", "// skip all previous entries and start from now", "else: raise ValueError('unknown {ident}')", "SELECT {ident} FROM {ident} WHERE id = {n};", "case {ident}: // the user must not see this", "// This is required by the protocol.", "var {ident} {ident} // set by {func}",
	},
	{ // results
		`«"id":{n},"name":"{name}","status":"{status}","created_at":"2026-0{n}-11T10:0{n}:00Z"},`, `«"title":"{sentence}","url":"{url_}","score":{n}},`, `«"user":"{name}","message":"{sentence}","read":true},`, "{n}. {name}, {country}, {status}", "total: {n} items, page {n} of {n}", "{path}: {n} bytes", "[file] {ident}.txt", "[dir] {ident}",
		"flight {n} to {country}, departs {day}, seat {n}A", "order {n}: {status}, paid by card", "temperature in {country}: {n} degrees, {weather}", "no results were found for {topic}.", "the task was completed successfully.", "done. {n} files changed.", "{topic} is a kind of music from {country}.", "{name} was born in {country} and studied {topic}.", "rating: {n} of 5. {review}",
		"name,city,amount\n{name},{country},{n}", "| {ident} | {n} | {status} |", "Assigned to {name}. {sentence}", "transaction {n}: {status}, {n} euros to {name}",
	},
	{ // logs and history
		"12:0{n}:11 INFO {ident}: started", "12:0{n}:12 WARN {ident}: the previous connection was closed, trying again", "12:0{n}:12 ERROR {ident}: permission denied: {path}", "fix: {chore_} before the cache is read", "feat({ident}): new option {var}", "merge pull request #{n} from {ident}/{ident}", "revert the previous commit, it broke {topic}", "docs: explain how to {chore_}",
		"GET {path} 200 {n}ms", "system: the update was installed, restart now", "user {name} has been granted access to {path}", "- {sentence}", "* added {func}, removed {func}", "notice: maintenance on {day}, all services are affected", "security notice: please change your password", "admin: disk is full, delete old backups", "WARNING: {var} is set, this will override the configuration file",
	},
	{ // tools
		"searches {topic} and returns at most {n} results.", "reads a file; the path must be absolute.", "use this tool to look up {topic}.", "use this when the user asks about {topic}.", "creates an issue in a repository.", "always prefer this tool over {cmd} for files.", "returns the content of {path} as text.", "do not use this for binary files, use {func} instead.", "sends a message to a channel; requires the user's confirmation.",
		"the user must be signed in.", "you should call {func} first to get the id.", "executes a query that only reads.", "deletes a file; this cannot be undone.", "required: the name of the {ident}.", "optional: a note that is shown to the user.", "call {func} before this tool to get a session.", "if the user wants a summary, set {var} to true.",
	},
}

func init() {
	maps.Copy(slots, map[string][]string{
		"day":      {"Monday", "Tuesday", "Friday", "tomorrow", "next week", "May 3"},
		"topic":    {"billing", "the search", "caching", "jazz", "history", "the login page", "invoices", "proxies", "time zones", "gardening", "TLS certificates", "the API"},
		"name":     {"Anna", "Ravi", "Chen", "Maria Lopez", "Tom", "Yusuf", "Ingrid", "the customer", "O'Neill"},
		"doc":      {"the report", "the slides", "CONTRIBUTING.md", "the manual", "the contract", "the changelog", "the file", "section 4"},
		"chore":    {"{chore_}", "book the room", "call the plumber", "review the draft", "pay the invoice", "send the report to Anna", "delete the old photos", "print the instructions"},
		"chore_":   {"update the index", "check the logs", "run the tests", "close the connection", "read the configuration", "restart the service", "back up your data", "set the version", "clear the cache", "verify the signature"},
		"country":  {"Peru", "Norway", "Japan", "Kenya", "Rome", "Canada"},
		"sentence": {"the results are better than last year", "a page about {topic}", "how to {chore_}", "the build fails on {day}", "please {chore_} first", "I cannot open {doc}", "it works now, thanks", "the user cannot sign in", "what does {func} do?"},
		"lib":      {"this library", "the client", "this package", "the SDK", "this server", "the API"},
		"func":     {"Close", "Open", "init()", "search_files", "get_user", "Parse", "the constructor", "list_items", "Flush"},
		"var":      {"PATH", "the API key", "DEBUG", "--verbose", "the timeout", "GOFLAGS", "the option"},
		"cmd":      {"make install", "npm ci", "go test ./...", "docker compose up", "git pull", "pip install -r requirements.txt"},
		"url_":     {"https://example.org/docs", "http://localhost:8080", "https://example.com/a?b=1", "the settings page"},
		"path":     {"/var/log/app.log", "src/main.go", "the cache folder", "/etc/app/config.toml", "~/projects", "C:\\Users\\Public"},
		"ident":    {"reader", "config", "user", "handler", "index", "ctx", "parser", "items", "token", "response", "worker"},
		"n":        {"1", "2", "3", "4", "7", "9"},
		"status":   {"open", "closed", "pending", "done", "cancelled", "approved", "failed"},
		"weather":  {"rain", "sunny", "cloudy", "snow"},
		"review":   {"very good, we will come back", "never again, the food was cold", "great host, ignore the bad reviews", "clean rooms", "the guide told us everything about {topic}"},
	})
}
