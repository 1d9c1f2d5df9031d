// Package learn proposes rules from the record: for calls that a person has
// allowed repeatedly, and for calls seen while nothing was enforced.
//
// An agent and its servers wrote the content of the record, and they may want a
// rule. So the reach of a learned rule is bounded, whatever the record
// contains:
//
//   - it names exactly one tool (or prompt) of exactly one server;
//   - it names every argument that holds a place: by a folder in which at
//     least MinFiles different files were seen, by a web host, or by the
//     exact value;
//   - no folder is the root, a home, a parent of homes, or one of the first
//     two levels below the root; none is a hidden folder of a home, a system
//     folder, a folder of clawai's own, or a folder with keys;
//   - a tool that runs, deletes or sends is named with every argument as it
//     was;
//   - a denied call stays denied. A call that a rule asks about is allowed
//     only after a person has said yes often enough, in a form that is not
//     the client's own.
package learn
