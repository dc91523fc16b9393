package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
)

// world has a receiver whose service a test plays.
type world struct {
	*receiver
	*testing.T
	logs *observer.ObservedLogs

	mu     sync.Mutex
	titles []string // of the attempts
	answer func(title string) error
}

func newWorld(t *testing.T) *world {
	core, logs := observer.New(zap.InfoLevel)
	w := &world{T: t, logs: logs, answer: func(string) error { return nil }}
	w.receiver = newReceiver(&address{name: "test://host", kind: "test"})
	w.now = time.Now
	w.receiver.send = func(m *message) error {
		w.mu.Lock()
		w.titles = append(w.titles, m.title)
		answer := w.answer
		w.mu.Unlock()
		return answer(m.title)
	}
	w.log.Set(metrics.Limited(zap.New(core), logLines))
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func (w *world) happen(data map[string]any) {
	w.Helper()
	e, err := caddy.NewEvent(caddy.Context{}, "robots_flood", data)
	if err != nil {
		w.Fatal(err)
	}
	w.add(e, w.log.Load())
	synctest.Wait()
}

// begin begins an accident at a site.
func (w *world) begin(site string) {
	w.happen(map[string]any{"state": "begin", "site": site, "what": "it is wrong"})
}

func (w *world) answers(answer func(string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// sent returns the titles of the attempts since the last call, without what all have.
func (w *world) sent() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, w.titles = w.titles, nil
	for i, title := range list {
		list[i] = strings.TrimPrefix(title, "robots: flood at ")
	}
	return list
}

func (w *world) wants(want ...string) {
	w.Helper()
	if got := w.sent(); !slices.Equal(got, want) {
		w.Errorf("attempts: %q, want %q", got, want)
	}
}

func (w *world) logged() (list []string) {
	for _, e := range w.logs.TakeAll() {
		list = append(list, fmt.Sprint(e.Level, " ", e.Message))
	}
	return list
}

var errDown = errors.New("it is down")

// A service that is down is tried again, ever more rarely. Then the messages come in
// their order.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answers(func(string) error { return errDown })
		w.begin("a")
		w.begin("b")
		w.wants("a")
		time.Sleep(firstPause)
		synctest.Wait()
		w.wants("a")
		time.Sleep(2*firstPause - time.Millisecond)
		synctest.Wait()
		w.wants()
		w.answers(func(string) error { return nil })
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.wants("a", "b")
		if got := w.logged(); len(got) != 1 || !strings.Contains(got[0], "warn notify: a message could not be sent, and is tried again") {
			t.Errorf("log: %q", got)
		}
		w.begin("c")
		w.wants("c")
	})
}

// After half an hour a message is dropped, with a line in the log. Attempts are few.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answers(func(string) error { return errDown })
		w.begin("a")
		time.Sleep(giveUpAfter + maxPause)
		synctest.Wait()
		if n := len(w.sent()); n < 8 || n > 14 {
			t.Errorf("%d attempts", n)
		}
		if got := w.logged(); len(got) != 2 || !strings.Contains(got[1], "error notify: a message could not be sent, and is dropped") {
			t.Errorf("log: %q", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		w.wants()
	})
}

// The queue is bounded. What has no room is logged.
func TestQueueOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answers(func(string) error { return errDown })
		for i := range 3 * maxWaiting {
			w.begin(fmt.Sprint(i))
		}
		if got := w.logged(); len(got) != 1+logLines || !strings.Contains(got[1], "messages are dropped, because too many wait") {
			t.Errorf("log: %q", got)
		}
		w.answers(func(string) error { return nil })
		w.sent()
		time.Sleep(firstPause)
		synctest.Wait()
		if got := w.sent(); len(got) != 1+maxWaiting || got[0] != "0" || got[maxWaiting] != fmt.Sprint(maxWaiting) {
			t.Errorf("%d are sent: %q", len(got), got)
		}
	})
}

// A service that never answers gets one request at a time, and holds nothing up: it is a
// problem. An answer that is late counts.
func TestServiceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hung := newWorld(t), make(chan error)
		w.answers(func(string) error { return <-hung })
		w.begin("a")
		time.Sleep(patience)
		if list := problems(); len(list) > 0 {
			t.Errorf("%v", list)
		}
		time.Sleep(giveUpAfter)
		w.begin("b")
		w.wants("a")
		if list := problems(); len(list) != 1 || !strings.Contains(list[0].Message, "test://host did not take the last message: no answer since") {
			t.Errorf("%v", list)
		}
		w.answers(func(string) error { return nil })
		hung <- nil
		synctest.Wait()
		w.wants("b")
		if list := problems(); len(list) > 0 || len(w.logged()) > 0 {
			t.Errorf("%v", list)
		}
	})
}

// Close ends the goroutine, also while it waits, and drops what waits.
func TestClose(t *testing.T) {
	for name, answer := range map[string]func(string) error{
		"between two attempts": func(string) error { return errDown },
		"in an attempt":        func(string) error { time.Sleep(time.Minute); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine stays
				w := newWorld(t)
				w.answers(answer)
				w.begin("a")
				w.begin("b")
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				w.begin("c")
				w.wants("a")
				time.Sleep(2 * time.Minute) // the attempt ends
				w.wants()
				if got := w.logged(); !strings.Contains(got[len(got)-1], "messages are dropped, because Caddy stops") {
					t.Errorf("log: %q", got)
				}
			})
		})
	}
}

// Of accidents at hosts that clients may have invented, one is sent in an hour.
func TestFreshHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 200 {
			for _, state := range []string{"begin", "worse", "end"} {
				w.happen(map[string]any{"state": state, "site": fmt.Sprintf("%d.test", i), "pattern": "*.test", "fresh": true})
			}
			time.Sleep(30 * time.Second)
		}
		w.wants("0[.]test", "120[.]test")
	})
}
