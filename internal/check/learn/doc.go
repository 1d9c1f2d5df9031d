// Package learn proposes rules from the record: for what a person has allowed
// again and again, and for what was seen where nothing was enforced.
//
// What the record holds was written by an agent and its servers, who may want a
// rule; so what a learned rule can open is bounded, whatever the record says:
//
//   - it names one tool (or prompt), exactly, of one server, exactly;
//   - an argument that names a place is named in it: by a folder that at least
//     MinFiles different files were seen in, by a web host, or as it is;
//   - no folder is the root, a home, what homes lie in, or one of the first two
//     below the root; none is a hidden one of a home, the system's, clawai's own,
//     or one where keys lie;
//   - what runs, deletes or sends is named with every argument as it was;
//   - a call that a rule denies stays denied, and what a rule asks about is
//     allowed only after a person has said yes to it often enough, in a form that
//     is not the client's own.
package learn
