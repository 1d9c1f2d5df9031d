// Package hook is a transport. A client that is about to run a tool starts this program, writes the
// call to it, and reads the decision. Each run is one exchange through the gate. The rules and the
// record are those of the proxy.
//
// If the hook writes nothing, most clients run the tool. A denial has a form that the client cannot
// misread. Unreadable input and internal failures also lead to a denial. Arguments are never
// rewritten: the client runs the call that was judged.
package hook
