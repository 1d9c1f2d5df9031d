// Package learn proposes rules from the record: for calls that a person has
// allowed repeatedly, and for calls seen while nothing was enforced.
//
// An agent and its servers determine the content of the record, and they may try to get a rule that
// allows too much. So a learned rule has these bounds, whatever the record contains:
//
//   - it names exactly one tool (or prompt) of exactly one server;
//   - it has a condition on every argument that holds a path or an address: a
//     folder in which at least MinFiles different files were seen, a web host,
//     or the exact value;
//   - no folder is the root, a home, a parent of homes, or one of the first
//     two levels below the root; nor is it a hidden folder of a home, a system
//     folder, a folder of clawai's own, or a folder with keys;
//   - a rule for a tool that runs, deletes or sends requires the exact value
//     of every argument;
//   - a denied call stays denied. A call that a rule asks about is allowed
//     only after a person has said yes often enough; a yes in the client's
//     own form does not count.
package learn
