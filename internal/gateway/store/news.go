package store

import "time"

// PollEvery is how long a change can stay unheard if the database could not tell of it.
const PollEvery = 2 * time.Second

// News tells of changes of questions as they happen, also of those that another centre on the same database
// makes.
type News interface {
	// Watch tells of changes of a question: it was added, answered, used or ended. With "" it tells of all questions
	// of the organisation. After a change is committed, woken has a value. One value may stand for several
	// changes, and a value may come without a change: at the latest PollEvery after the last one. So whoever
	// waits watches first, then reads, and reads again for each value. end ends the watch.
	Watch(question string) (woken <-chan struct{}, end func())
	// SetReport lets f be told why changes of others come late. It is called before the store is used.
	SetReport(f func(error))
}
