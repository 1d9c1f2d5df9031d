package store

import "time"

// PollEvery is the longest delay of a notification that the database could not deliver itself.
const PollEvery = 2 * time.Second

// News notifies of changes of questions as they happen, also of those that another centre on the same
// database makes.
type News interface {
	// Watch notifies of changes of a question: it was added, answered, used or ended. "" stands for all
	// questions of the organisation. After a change is committed, woken receives a value. One value may stand
	// for several changes. A value also comes every PollEvery, without a change. So the caller calls Watch
	// first, then reads the question, and reads it again after each value. end ends the watch.
	Watch(question string) (woken <-chan struct{}, end func())
	// SetReport sets a function that gets the error if notifications of other centres' changes are delayed.
	// Call it before the store is used.
	SetReport(f func(error))
}
