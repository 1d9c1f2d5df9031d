package choose

import "os"

// keys is the console. On Windows bubbletea stops reading without our help.
type keys struct{ *os.File }

func newKeys(in *os.File) keys { return keys{in} }

func (keys) stop() {}
