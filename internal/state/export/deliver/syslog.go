package deliver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/export"
)

// Syslog is a sink that sends events over TLS with counted octets (RFC 5425). Syslog has no
// acknowledgements. If a receiver ends the connection, the events that it had not read may be lost.
// Syslog then calls note with a text about the loss.
type Syslog struct {
	address string
	by      *egress.Transport
	append  func(dst []byte, e *event.Entry, s export.Source) []byte
	source  export.Source
	note    func(text string)
	pause   time.Duration

	conn *tls.Conn
	gone chan error // receives the error that ended conn; nil for a normal end
	sent bool       // at least one event was sent on conn
}

const (
	sendTimeout = 30 * time.Second
	endTimeout  = 5 * time.Second
)

// NewSyslog returns a sink for a host and port. note is called with a text for people if events may
// be lost or sent twice.
func NewSyslog(address string, by *egress.Transport, write func(dst []byte, e *event.Entry, s export.Source) []byte, s export.Source, note func(string)) *Syslog {
	return &Syslog{address: address, by: by, append: write, source: s, note: note, pause: firstPause}
}

// Deliver implements Sink with one write on one connection. If the connection breaks, Deliver
// connects again and sends all of the events again.
func (s *Syslog) Deliver(ctx context.Context, entries []*event.Entry) error {
	var text, one []byte
	for _, e := range entries {
		one = s.append(one[:0], e, s.source)
		text = strconv.AppendInt(text, int64(len(one)), 10)
		text = append(append(text, ' '), one...)
	}
	return retry(ctx, s.pause, func() (time.Duration, error) {
		if err := s.connect(ctx, entries[0].Record); err != nil {
			if failed, ok := errors.AsType[*egress.Error](err); ok && failed.Lasting {
				return 0, lasting{err}
			}
			return 0, err
		}
		_ = s.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
		s.sent = true
		if _, err := s.conn.Write(text); err != nil {
			s.note(fmt.Sprintf("the connection to %s broke; what comes from record %s on is sent again and may be there twice", s.address, entries[0].Record))
			s.disconnect()
			return 0, err
		}
		return 0, nil
	})
}

// connect makes a connection if there is none, or if the receiver has ended the last one.
func (s *Syslog) connect(ctx context.Context, next string) error {
	if s.conn != nil {
		select {
		case why := <-s.gone:
			if s.sent {
				text := fmt.Sprintf("%s ended the connection before record %s; it may not have taken the last events before that", s.address, next)
				if why != nil {
					text += ": " + why.Error()
				}
				s.note(text)
			}
			s.disconnect()
		default:
			return nil
		}
	}
	conn, err := s.by.DialTLS(ctx, s.address)
	if err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { // a syslog receiver sends no bytes, so the read returns only when the receiver ends the connection
		_, err := io.Copy(io.Discard, conn)
		gone <- err
	}()
	s.conn, s.gone, s.sent = conn, gone, false
	return nil
}

func (s *Syslog) disconnect() {
	_ = s.conn.Close()
	s.conn = nil
}

// Close implements Sink. It ends the connection and waits until the receiver ends it too. The
// receiver does this when it has read all events.
func (s *Syslog) Close() error {
	if s.conn == nil {
		return nil
	}
	defer s.disconnect()
	err := s.conn.CloseWrite()
	select {
	case ended := <-s.gone:
		err = errors.Join(err, ended)
	case <-time.After(endTimeout):
		err = errors.Join(err, errors.New("it does not end the connection"))
	}
	if err != nil && s.sent {
		return fmt.Errorf("%s may not have taken the last events: %w", s.address, err)
	}
	return nil
}
