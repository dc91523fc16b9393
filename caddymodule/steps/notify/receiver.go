package notify

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// Bounds of a receiver.
const (
	maxWaiting  = 100              // messages, with the one that is sent
	patience    = 20 * time.Second // for an attempt
	firstPause  = 5 * time.Second  // after a failed attempt; each further one is twice as long
	maxPause    = 5 * time.Minute
	giveUpAfter = 30 * time.Minute // after a message was made
	freshEvery  = time.Hour        // between two messages about hosts that clients may have invented
	logLines    = 5                // with the same message in a minute
)

// receiver sends messages to a URL, one after another, in a goroutine that begins with the
// first. It outlives the configuration. The names of its fields have no secrets.
type receiver struct {
	name, kind string
	send       func(*message) error // see address.send
	now        func() time.Time
	log        metrics.Logger
	queue      chan *message
	begin      sync.Once    // the goroutine
	waiting    atomic.Int32 // messages in the queue, and the one that is sent
	stopped    context.Context
	stop       context.CancelFunc

	mu    sync.Mutex
	fresh time.Time // of the last message about a host that clients may have invented

	late sending // used by the goroutine only
}

// sending is an attempt that has not ended.
type sending struct {
	of   *message
	done chan error
}

func newReceiver(a *address) *receiver {
	stopped, stop := context.WithCancel(context.Background())
	return &receiver{
		name: a.name, kind: a.kind, send: a.send, now: clock.Now, queue: make(chan *message, maxWaiting), stopped: stopped, stop: stop,
	}
}

// add takes an event, and waits for nothing. Of accidents at fresh hosts, one is sent in
// freshEvery.
func (r *receiver) add(e caddy.Event, log *zap.Logger) {
	r.log.Set(log)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if e.Data["fresh"] == true {
		if e.Data["state"] != "begin" || now.Sub(r.fresh) < freshEvery {
			return
		}
		r.fresh = now
	}
	r.push(news(e, now))
}

// push puts a message into the queue. The caller holds mu.
func (r *receiver) push(m *message) {
	switch {
	case r.stopped.Err() != nil:
	case r.waiting.Load() >= maxWaiting:
		r.log.Load().Warn("notify: messages are dropped, because too many wait", zap.String("receiver", r.name))
	default:
		r.waiting.Add(1)
		r.queue <- m
		r.begin.Do(func() { new(background.Group).Keep(r.stopped.Done(), "notify: messages", r.run) })
	}
}

// run sends the messages that wait.
func (r *receiver) run() {
	for {
		select {
		case m := <-r.queue:
			r.deliver(m)
		case <-r.stopped.Done():
			return
		}
	}
}

// deliver sends a message, and tries it again for half an hour.
func (r *receiver) deliver(m *message) {
	for pause := firstPause; r.stopped.Err() == nil; pause = min(2*pause, maxPause) {
		err, log := r.attempt(m), r.log.Load()
		fields := []zap.Field{zap.String("receiver", r.name), zap.String("title", m.title), zap.Error(err)}
		r.note(err)
		switch {
		case r.stopped.Err() != nil:
			return
		case err == nil:
			r.waiting.Add(-1)
			return
		case r.now().Sub(m.at) >= giveUpAfter:
			log.Error("notify: a message could not be sent, and is dropped", fields...)
			r.waiting.Add(-1)
			return
		case pause == firstPause:
			log.Warn("notify: a message could not be sent, and is tried again for half an hour", fields...)
		}
		select {
		case <-time.After(pause):
		case <-r.stopped.Done():
		}
	}
}

// failing has the errors of the last messages that could not be sent, by receiver.
var failing sync.Map

// note notes whether the receiver takes messages.
func (r *receiver) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.stopped.Err() != nil {
		failing.Delete(r)
		return
	}
	failing.Store(r, err)
}

// problems returns the receivers that take no messages.
func problems() (list []statusapi.Problem) {
	for r, err := range failing.Range {
		name := r.(*receiver).name
		list = append(list, statusapi.Problem{Severity: statusapi.Warning, Kind: "notify", Subject: name,
			Message: fmt.Sprintf("notify: %s did not take the last message: %v", name, err),
			Advice:  "Check the URL and the service: `caddy robots notify` and the URL send a test."})
	}
	return list
}

// attempt sends a message, and waits for the end as long as patience. One attempt runs at a
// time: the next one waits for it, and takes its result if it was for the same message.
func (r *receiver) attempt(m *message) error {
	if r.late.done == nil {
		r.late = sending{m, make(chan error, 1)}
		s := r.late
		background.Go("notify: a message", func() { s.done <- r.send(s.of) })
	}
	select {
	case err := <-r.late.done:
		of := r.late.of
		if r.late = (sending{}); of != m {
			return r.attempt(m)
		}
		return err
	case <-time.After(patience):
		return fmt.Errorf("no answer within %s", patience)
	case <-r.stopped.Done():
		return r.stopped.Err()
	}
}

// Close drops the messages that wait. It implements io.Closer for shared.Get.
func (r *receiver) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	failing.Delete(r)
	if n := int(r.waiting.Load()); n > 0 {
		r.log.Load().Warn("notify: messages are dropped, because Caddy stops or the configuration has the URL no more",
			zap.String("receiver", r.name), zap.Int("dropped", n))
	}
	return nil
}
