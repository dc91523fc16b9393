package notify

import (
	"context"
	"fmt"
	"sync"
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
	maxWaiting  = 100              // messages, besides the one that is sent
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
	name    string
	send    func(*message) error // see address.send
	now     func() time.Time
	log     metrics.Logger
	queue   chan *message
	begin   sync.Once // the goroutine
	stopped context.Context
	stop    context.CancelFunc

	mu    sync.Mutex
	fresh time.Time // of the last message about a host that clients may have invented
	began time.Time // of the last attempt that began or failed, zero if nothing is to be sent
	err   error     // of the last attempt that ended
}

// receivers has the receivers that the configuration uses.
var receivers sync.Map

func newReceiver(a *address) *receiver {
	r := &receiver{name: a.name, send: a.send, now: clock.Now, queue: make(chan *message, maxWaiting)}
	r.stopped, r.stop = context.WithCancel(context.Background())
	receivers.Store(r, nil)
	return r
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
	select {
	case r.queue <- news(e, now):
		r.begin.Do(func() { new(background.Group).Keep(r.stopped.Done(), "notify: messages", r.run) })
	default:
		r.log.Load().Warn("notify: messages are dropped, because too many wait", zap.String("receiver", r.name))
	}
}

// run sends the messages that wait.
func (r *receiver) run() {
	for {
		select {
		case m := <-r.queue:
			r.set(time.Time{}, r.deliver(m))
		case <-r.stopped.Done():
			return
		}
	}
}

// deliver sends a message, and tries it again for half an hour. As long as a service does not
// answer, it gets no second attempt. It returns the error of the last attempt.
func (r *receiver) deliver(m *message) error {
	err := r.err
	for pause := firstPause; r.stopped.Err() == nil; pause = min(2*pause, maxPause) {
		r.set(r.now(), err)
		err = r.send(m)
		r.set(r.now(), err)
		log := r.log.Load().With(zap.String("receiver", r.name), zap.String("title", m.title), zap.Error(err))
		switch {
		case err == nil || r.stopped.Err() != nil:
			return err
		case r.now().Sub(m.at) >= giveUpAfter:
			log.Error("notify: a message could not be sent, and is dropped")
			return err
		case pause == firstPause:
			log.Warn("notify: a message could not be sent, and is tried again for half an hour")
		}
		select {
		case <-time.After(pause):
		case <-r.stopped.Done():
		}
	}
	return err
}

func (r *receiver) set(began time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began, r.err = began, err
}

// problem returns why the service takes no messages, nil if it does.
func (r *receiver) problem() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && !r.began.IsZero() && r.now().Sub(r.began) > patience {
		return fmt.Errorf("no answer since %s", r.began.UTC().Format(time.RFC3339))
	}
	return r.err
}

// problems returns the receivers that take no messages.
func problems() (list []statusapi.Problem) {
	for key := range receivers.Range {
		r := key.(*receiver)
		if err := r.problem(); err != nil {
			list = append(list, statusapi.Problem{Severity: statusapi.Warning, Kind: "notify", Subject: r.name,
				Message: fmt.Sprintf("notify: %s did not take the last message: %v", r.name, err),
				Advice:  "Check the URL and the service: `caddy robots notify` and the URL send a test."})
		}
	}
	return list
}

// Close drops the messages that wait. It implements io.Closer for shared.Use.
func (r *receiver) Close() error {
	r.stop()
	receivers.Delete(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.queue)
	if !r.began.IsZero() {
		n++
	}
	if n > 0 {
		r.log.Load().Warn("notify: messages are dropped, because Caddy stops or the configuration has the URL no more",
			zap.String("receiver", r.name), zap.Int("dropped", n))
	}
	return nil
}
