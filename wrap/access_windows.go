package wrap

// mayWrite leaves the question to the write itself; the read-only attribute
// shows in the file's mode.
func mayWrite(string) bool { return true }
