// Package learn proposes rules from the record. It learns from calls that a person has allowed
// several times, and from calls that were recorded while nothing was enforced.
//
// An agent and its servers decide what is in the record, and they may try to get a rule that allows
// too much. For this reason every learned rule has these bounds:
//
// - It names exactly one tool (or prompt) of exactly one server.
//
// - It has a condition on every argument that holds a path or an address. The condition is a folder
// in which at least MinFiles different files were seen, a web host, or the exact value.
//
// - A folder is never the root, a home, a parent of homes, or in one of the first two levels below
// the root. It is no hidden folder of a home, no system folder, no folder of clawai itself, and no
// folder with keys.
//
// - If the tool runs, deletes or sends something, the rule requires the exact value of every
// argument.
//
// - A denied call stays denied. A call that a rule asks about is allowed only after a person has
// said yes often enough. A yes in the client's own form is not counted.
package learn
