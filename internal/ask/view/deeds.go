package view

import (
	"slices"
	"strings"
)

// namedDeeds are sentences for well-known tools. names are the words of a tool's name; several
// names are separated by commas. The parts of a sentence are separated by |. A part with {KEYS}
// contains the value of an argument; the part is left out if the call has no such argument. KEYS
// are names from valueKeys, or names of arguments. The first value is the object of the sentence.
var namedDeeds = []struct{ names, sentence string }{
	{"git commit", "commit|{text}|in {repo}"},
	{"git add", "stage|{files}|in {repo}"},
	{"git reset", "reset what is staged|in {repo}"},
	{"git checkout", "check out|{branch}|in {repo}"},
	{"git init", "make a git repository|in {repo}"},
	{"git push", "push|{branch}|to {remote}|from {repo}"},
	{"git status", "read the git status|of {repo}"},
	{"git log", "read the git log|of {repo}"},
	{"git branch", "list branches|of {repo}"},
	{"git show", "read the commit|{revision}|in {repo}"},
	{"git diff, git diff staged, git diff unstaged", "read changes|since {target}|in {repo}"},

	{"browser click, click", "click|{element}|at {handle}"},
	{"browser hover, hover", "point at|{element}|at {handle}"},
	{"browser type, browser fill, type, fill, type text", "type|{typed}|into {element}|at {handle}"},
	{"browser fill form, fill form", "fill in a form|with {values}"},
	{"browser drag, drag", "drag|{startelement}|to {endelement}"},
	{"browser press key, press key", "press the key|{key}"},
	{"browser select option, select option", "choose|{values}|in {element}|at {handle}"},
	{"browser evaluate, browser run code, evaluate script, puppeteer evaluate, playwright evaluate", "run in the page|{code}"},
	{"browser file upload, upload file", "upload|{files}|at {handle}"},
	{"browser take screenshot, take screenshot", "take a picture of the page|as {files}"},
	{"browser snapshot, take snapshot", "read the page"},
	{"browser navigate back", "go back a page"},
	{"browser close", "close the page"},
	{"browser wait for, wait for", "wait for|{text}"},
	{"browser console messages, list console messages", "read the console of the page"},
	{"browser network requests, list network requests", "list the requests of the page"},

	{"add issue comment, create issue comment", "comment on issue|#{number}|in {repo}|with {text}"},
	{"create or update file", "write|{files}|in {repo}|on {branch}"},
	{"issue write", "write an issue|#{number}|{title}|in {repo}"},
	{"pull request review write", "review pull request|#{number}|in {repo}|as {event}"},
	{"add comment to pending review", "comment in a review|on {files}|of #{number}|in {repo}"},
	{"apply migration", "apply the migration|{name}|in {place}"},
	{"push files", "push|{files}|to {repo}|on {branch}"},
	{"pull request read, get pull request", "read pull request|#{number}|in {repo}"},
	{"issue read", "read issue|#{number}|in {repo}"},
	{"search code", "search code|for {sought}"},
	{"get file contents", "read|{files}|in {repo}"},

	{"create entities, create relations, add observations", "remember|{memory}"},
	{"delete entities, delete relations, delete observations", "forget|{memory}"},
	{"search nodes, open nodes, read graph", "look into its memory|for {memory}"},

	{"read many files, read multiple files", "read|{files}"},
	{"grep, grep search, search file content", "search files|for {sought}|in {files}"},
	{"glob, file search", "list files|named {sought}|in {files}"},
	{"semantic search, codebase search, search codebase", "search the code|for {sought}"},
	{"search, tavily search, exa search", "search|for {sought}|in {files}"},
	{"web search, google web search, brave web search", "search the web|for {sought}"},
	{"task, agent", "start an agent|for {told}"},
	{"todo write, write todos, update plan", "write down its plan"},
	{"exit plan mode", "begin what it planned"},
	{"skill", "use the skill|{skill}"},
	{"bash output", "read the output of command|{handle}"},
	{"kill shell, kill bash", "stop command|{handle}"},
}

// valueKeys lists the names of arguments, in the form of plainKey, for each value of a sentence. If
// quoted is true, the value is free text and is always shown in quotes.
var valueKeys = []struct {
	value, keys string
	quoted      bool
}{
	{"text", "message text body content comment commentbody", true},
	{"title", "title name subject summary", true},
	{"typed", "text value", true},
	{"element", "element", true},
	{"handle", "target ref uid selector bashid shellid taskid", false},
	{"code", "function code script expression", true},
	{"key", "key", false},
	{"values", "values value", false},
	{"files", "files paths path filename filepath absolutepath dirpath include places", false},
	{"branch", "branch branchname newbranch", false},
	{"head", "head sourcebranch", false},
	{"base", "base targetbranch", false},
	{"revision", "revision commit sha ref", false},
	{"number", "issuenumber pullnumber issueiid mergerequestiid number id issueid issuekey issueidorkey", false},
	{"sought", "pattern query globpattern regex searchterm searchquery", true},
	{"memory", "entitynames entityname query names name from", true},
	{"told", "description", true},
	{"to", "to recipient recipients email channel channelid channelname", false},
	{"place", "project projectkey projectid team teamid database databaseid table parentid issueid issuekey pageid channel channelid", false},
}

// A tool's name gives a sentence if all its words are in these lists: "create_pull_request" gives
// "wants to create a pull request".
const (
	deedVerbs = `add approve archive assign cancel change close copy create delete deploy edit fork get insert invite list
		merge modify move open post publish read remove rename reopen reply request resolve revoke run save schedule search send
		set star start stop trigger update upload view`
	deedThings = `account alert branch branches board bucket bug calendar card cell channel channels comment comments commit
		commits contact container customer cycle dashboard database deployment direct document documents draft email emails
		environment epic event events field gist group history incident invoice issue issues item items job jobs key label labels
		list mail member members merge message messages milestone note notes notebook order page pages payment permission post
		product project projects property pull reaction record records refund release releases repo repository repositories
		request requests review reviews role row rows run runs secret section sheet sprint status sub subscription subtask table
		tables tag tags task tasks team teams template thread ticket tickets token user users variable view webhook workflow
		workflows worksheet`
	deedJoins       = "for from in of on to with"
	sendingWords    = "add invite post reply send"
	attachedWords   = "comment comments label labels reaction review reviews" // things that belong to another thing: a number in the call is the number of that other thing
	repositoryWords = "project repo repository"
	deedBrands      = "asana atlassian confluence discord git github gitlab gmail google jira linear notion outlook sentry slack stripe teams trello zendesk"
)

// hasWord reports whether a word is in a list.
func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// namedDeed returns the deed of a tool in namedDeeds. It returns false if the tool is not in the
// table.
func namedDeed(words []string, leaves []leaf, home string) (deed, bool) {
	s := sentence{leaves: leaves, home: home}
	name := strings.Join(words, " ")
	for _, row := range namedDeeds {
		for one := range strings.SplitSeq(row.names, ", ") {
			if one == name {
				s.addParts(row.sentence)
				return s.deed, true
			}
		}
	}
	return deed{}, false
}

// composedDeed returns a deed that is made from the words of the tool's name. It returns false if
// the words give no sentence, or if the call names a file, because the file tells a person more.
func composedDeed(words []string, leaves []leaf, home string) (deed, bool) {
	text, thing := composeWords(words)
	if text == "" || slices.ContainsFunc(leaves, func(l leaf) bool {
		key := plainKey(l.key)
		return l.string && isPathKey(key) && !slices.Contains(noFileKeys, key)
	}) {
		return deed{}, false
	}
	s := sentence{leaves: leaves, home: home}
	s.addParts(text)
	switch verb, _, _ := strings.Cut(text, " "); {
	case verb == "search":
		s.addParts("for {sought}")
	case hasWord(repositoryWords, thing) && verb != "create":
		s.addParts("{repo}")
	case !hasWord(attachedWords, thing):
		s.addParts("#{number}")
	}
	s.addParts("{title}|{" + thing + "}|{" + thing + "id}")
	if s.object.text == "" || s.object.text == s.number {
		s.addParts("{text}")
	}
	s.addParts("on #{number}")
	if hasWord(sendingWords, strings.Fields(text)[0]) {
		s.addParts("to {to}")
	}
	s.addParts("in {repo}|in {place}|from {head}|into {base}|on {branch}")
	return s.deed, true
}

// noFileKeys are names of arguments that isPathKey takes for a path. If a tool does not work on
// files, these arguments hold something else.
var noFileKeys = []string{"repopath", "to", "from", "source", "destination", "target", "location", "link", "image"}

// composeWords makes a part of a sentence from the words of a tool's name. The result thing is the
// last word. Both results are "" if the words give no sentence.
func composeWords(words []string) (text, thing string) {
	if len(words) > 1 && hasWord(deedBrands, words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || !hasWord(deedVerbs, words[0]) {
		return "", ""
	}
	text, begins := words[0], true
	if text == "get" || text == "view" {
		text = "read"
	}
	for i, word := range words[1:] {
		switch {
		case hasWord(deedBrands, word):
			continue
		case hasWord(deedJoins, word):
			text, begins = text+" "+word, true
			continue
		case !hasWord(deedThings, word):
			return "", ""
		}
		if begins {
			if article := articleOf(words[i+1:]); article != "" {
				text += " " + article
			}
		}
		text, begins, thing = text+" "+word, false, word
	}
	if thing == "" || begins {
		return "", ""
	}
	return text, thing
}

// articleOf returns the article ("a", "an" or "") for a thing. The words of the thing end at the
// next word of deedJoins.
func articleOf(words []string) string {
	if end := slices.IndexFunc(words, func(word string) bool { return hasWord(deedJoins, word) }); end >= 0 {
		words = words[:end]
	}
	first, last := words[0], words[len(words)-1]
	switch {
	case last == "mail" || last == "history" || strings.HasSuffix(last, "s") && last != "status":
		return ""
	case strings.ContainsRune("aeio", rune(first[0])):
		return "an"
	default:
		return "a"
	}
}

// sentence is a deed that is being built from parts.
type sentence struct {
	deed
	leaves []leaf
	home   string
	used   []string // paths of the arguments that are already in the sentence
	number string   // the object of the sentence if it is a number, otherwise ""
}

func (s *sentence) addParts(parts string) {
	for part := range strings.SplitSeq(parts, "|") {
		before, key, valued := strings.Cut(part, "{")
		if s.verb == "" && !valued {
			s.verb = "wants to " + part
			continue
		}
		value, more := s.findValue(strings.TrimSuffix(key, "}"))
		if strings.HasSuffix(before, "#") {
			if before = strings.TrimSuffix(before, "#"); value.text != "" && strings.Trim(value.text, "0123456789") == "" {
				value.text = "#" + value.text
			}
		}
		switch {
		case value.text == "":
		case s.object.text == "" && s.tail == "":
			if before = strings.TrimSuffix(before, " "); before != "" {
				s.verb += " " + before
			}
			s.object, s.tail = value, more
			if key == "number}" {
				s.number = value.text
			}
		default:
			s.tail += " " + before + value.cutText(40) + more // the text in before is empty or ends in a blank
		}
	}
}

// findValue returns the value of the call that stands for the part {named} of a sentence. If
// there are several values, it returns the first one, and a text with the number of further
// values.
func (s *sentence) findValue(named string) (name, string) {
	if named == "repo" {
		return s.findRepository(), ""
	}
	keys, quoted := named, false
	for _, row := range valueKeys {
		if row.value == named {
			keys, quoted = row.keys, row.quoted
		}
	}
	for key := range strings.FieldsSeq(keys) {
		var found []*leaf
		for i := range s.leaves {
			if l := &s.leaves[i]; plainKey(l.key) == key && !slices.Contains(s.used, l.path) && l.text != "" && (l.string || named == "number" && l.text != "null" && l.text != "true" && l.text != "false") {
				found = append(found, l)
			}
		}
		if len(found) == 0 {
			continue
		}
		s.told, s.used = append(s.told, shownValue(found[0])), append(s.used, found[0].path)
		switch {
		case quoted:
			return nameOf(found[0].text).withQuotes(), moreText(len(found))
		case named == "files":
			return pathName(found[0].text, s.home), moreText(len(found))
		}
		return nameOf(found[0].text), moreText(len(found))
	}
	return name{}, ""
}

// findRepository returns the repository of a call: OWNER/NAME, or the folder of a repository.
func (s *sentence) findRepository() name {
	first := func(keys ...string) *leaf {
		for i := range s.leaves {
			if l := &s.leaves[i]; l.string && l.text != "" && slices.Contains(keys, plainKey(l.key)) && !slices.Contains(s.used, l.path) {
				return l
			}
		}
		return nil
	}
	owner, repo := first("owner"), first("repo", "repository")
	switch folder := first("repopath"); {
	case owner != nil && repo != nil:
		s.told, s.used = append(s.told, shownValue(owner), shownValue(repo)), append(s.used, owner.path, repo.path)
		return nameOf(owner.text + "/" + repo.text)
	case folder != nil:
		s.told, s.used = append(s.told, shownValue(folder)), append(s.used, folder.path)
		return pathName(folder.text, s.home)
	case repo != nil:
		s.told, s.used = append(s.told, shownValue(repo)), append(s.used, repo.path)
		return nameOf(repo.text)
	}
	return name{}
}

// shownValue returns a value in the form that the line of its argument has.
func shownValue(l *leaf) string {
	if l.string {
		return quoteValues([]string{l.text})[0]
	}
	return l.text
}
