package reverse

import "time"

// KeepAlive has streams say that they are still there so often, until restore.
func KeepAlive(every time.Duration) (restore func()) {
	was := keepAlive
	keepAlive = every
	return func() { keepAlive = was }
}
