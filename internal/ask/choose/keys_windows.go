package choose

import "os"

// keys is the console; bubbletea stops reading it by itself.
type keys struct{ *os.File }

func newKeys(in *os.File) keys { return keys{in} }

func (keys) stop() {}
