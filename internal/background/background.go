// Package background runs all work that waits for no request. Work that panics does not
// end the server: the panic is reported, and what repeats goes on. A test of the program
// checks that goroutines and timers begin here only.
//
//	var running background.Group
//	running.Go("counters: save", save)
//	running.Keep(ctx.Done(), "counters: fold", func() { fold(ctx) })
//	running.Wait()
package background

import (
	"context"
	"fmt"
	"log"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Panic is a kind of work that panicked.
type Panic struct {
	What  string // the work; from the program, so that there are few
	Value string // of the last panic
	Stack string
	Count int
	Last  time.Time
}

var (
	mu     sync.Mutex
	panics = make(map[string]Panic)
	report atomic.Pointer[func(Panic)]
)

// Report calls to for panics from now on: of one kind of work for the first, the second, the
// fourth, the eighth and so on. Before, they go to the standard logger.
func Report(to func(Panic)) { report.Store(&to) }

// Panics returns the work that panicked, by name.
func Panics() []Panic {
	mu.Lock()
	defer mu.Unlock()
	return slices.SortedFunc(maps.Values(panics), func(a, b Panic) int { return strings.Compare(a.What, b.What) })
}

func init() {
	Report(func(p Panic) { log.Printf("%s: panic: %s\n%s", p.What, p.Value, p.Stack) })
}

func note(what string, value any) error {
	mu.Lock()
	p := panics[what]
	p = Panic{What: what, Value: fmt.Sprint(value), Stack: string(debug.Stack()), Count: p.Count + 1, Last: time.Now()}
	panics[what] = p
	mu.Unlock()
	if p.Count&(p.Count-1) == 0 {
		(*report.Load())(p)
	}
	return fmt.Errorf("panic: %s", p.Value)
}

// Try returns the error of f. If f panics, Try reports that, and returns it as an error.
func Try(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = note(what, value)
		}
	}()
	return f()
}

// Run is Try for work that has no error of its own.
func Run(what string, f func()) error {
	return Try(what, func() error { f(); return nil })
}

// Go calls f in a goroutine.
func Go(what string, f func()) {
	go func() { _ = Run(what, f) }()
}

// After calls f after a time.
func After(d time.Duration, what string, f func()) *time.Timer {
	return time.AfterFunc(d, func() { _ = Run(what, f) })
}

// Ended calls f when ctx has ended, unless stop is called before.
func Ended(ctx context.Context, what string, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = Run(what, f) })
}

// Pauses before work that panicked goes on.
const (
	firstPause = 10 * time.Millisecond // each further one is twice as long
	maxPause   = time.Minute
)

// Keep calls f, and again if it panics, until done is closed.
func Keep(done <-chan struct{}, what string, f func()) {
	for pause := firstPause; Run(what, f) != nil; pause = min(2*pause, maxPause) {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
	}
}

// Group waits for goroutines. The zero Group is ready for use.
type Group struct {
	running sync.WaitGroup
	places  chan struct{} // nil if there may be any number
}

// AtMost returns a Group with at most n goroutines at a time.
func AtMost(n int) *Group { return &Group{places: make(chan struct{}, n)} }

// Go calls f in a goroutine, as soon as there may be one more.
func (g *Group) Go(what string, f func()) {
	if g.places != nil {
		g.places <- struct{}{}
	}
	g.running.Go(func() {
		_ = Run(what, f)
		if g.places != nil {
			<-g.places
		}
	})
}

// Keep is Keep in a goroutine.
func (g *Group) Keep(done <-chan struct{}, what string, f func()) {
	g.running.Go(func() { Keep(done, what, f) })
}

// Wait waits until all goroutines have ended.
func (g *Group) Wait() { g.running.Wait() }
