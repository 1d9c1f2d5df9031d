package sqlstore

import (
	"context"
	"errors"

	"github.com/clawai/clawai/internal/gateway/store"
)

const deliveryColumns = "question, way, reference, told, is_open, tries, next"

func readDelivery(r scanner) (d store.Delivery, err error) {
	var isOpen, next int64
	err = r.Scan(&d.Question, &d.Way, &d.Reference, &d.Told, &isOpen, &d.Tries, &next)
	d.Open, d.Next = isOpen == 1, fromNanos(next)
	return d, err
}

// FindDelivery implements store.Deliveries.
func (s *Store) FindDelivery(ctx context.Context, question, way string) (store.Delivery, error) {
	d, err := readDelivery(s.row(ctx, "SELECT "+deliveryColumns+" FROM delivery WHERE org = ? AND question = ? AND way = ?", s.org, question, way))
	return d, explain(err)
}

// ReplaceDelivery implements store.Deliveries.
func (s *Store) ReplaceDelivery(ctx context.Context, found, d store.Delivery) error {
	err := s.execOne(ctx, "INSERT INTO delivery (org, "+deliveryColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (org, question, way) DO UPDATE SET "+
		"reference = excluded.reference, told = excluded.told, is_open = excluded.is_open, tries = excluded.tries, next = excluded.next "+
		"WHERE delivery.told = ? AND delivery.tries = ? AND delivery.next = ?",
		s.org, d.Question, d.Way, d.Reference, d.Told, bit(d.Open), d.Tries, nanos(d.Next), found.Told, found.Tries, nanos(found.Next))
	if errors.Is(err, store.ErrNone) {
		return store.ErrTwice
	}
	return err
}

// ListOpen implements store.Deliveries.
func (s *Store) ListOpen(ctx context.Context, way string) ([]store.Delivery, error) {
	return list(ctx, s, readDelivery, "SELECT "+deliveryColumns+" FROM delivery WHERE org = ? AND way = ? AND is_open = 1 "+
		"ORDER BY (SELECT created FROM question WHERE question.org = delivery.org AND question.id = delivery.question), question", s.org, way)
}
