package approvecmd

// stayInBackground does nothing: Windows does not stop a process that reads.
func stayInBackground() {}
