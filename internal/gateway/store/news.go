package store

import "time"

// PollEvery is the longest delay of a notification when the database fails to deliver it.
const PollEvery = 2 * time.Second

// News notifies its user of changes of questions. It also notifies of changes that other centres make
// in the same database.
type News interface {
	// Watch starts notifications about one question, or about all questions of the organisation if
	// question is "". A change means that the question was added, answered, used or ended. woken
	// receives a value after a change is committed. One value may stand for several changes. woken also
	// receives a value every PollEvery without a change. So the caller calls Watch first, then reads
	// the question, and reads the question again after each value. The caller calls end to stop the
	// notifications.
	Watch(question string) (woken <-chan struct{}, end func())
	// SetReport sets the function f. The store calls f with an error when notifications of other
	// centres' changes come late. Call SetReport before any other method of the store.
	SetReport(f func(error))
}
