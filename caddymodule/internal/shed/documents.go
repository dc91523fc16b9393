package shed

import (
	"slices"
	"sync/atomic"
)

const (
	// leastWaiting is how many documents must wait for longer than Latency, each of
	// another client, and 1/waitingShare of those that wait, for people to wait too long
	// before any page is finished.
	leastWaiting = 5
	waitingShare = 5
	// maxDocuments is how many documents that wait are known at once, and probes how many
	// places are tried for one.
	maxDocuments = 512
	probes       = 8
)

// documents are the documents that people wait for.
type documents [maxDocuments]document

// document is one of them.
type document struct {
	begin  atomic.Int64 // when it was requested; negative until its body has arrived; 0 if the place is free
	client atomic.Uint64
}

// add adds a document. It returns nil if there is no room. Callers at the same time
// should pass different numbers: it is faster then.
func (ds *documents) add(number uint32, begin int64, client uint64) *document {
	for i := range uint32(probes) {
		if d := &ds[(number+i)%maxDocuments]; d.begin.Load() == 0 && d.begin.CompareAndSwap(0, begin) {
			d.client.Store(client)
			return d
		}
	}
	return nil
}

// areLate reports whether people have waited too long after since.
func (ds *documents) areLate(since, now, latency int64) bool {
	waiting, late, clients := 0, 0, make([]uint64, 0, leastWaiting)
	for i := range ds {
		begin := ds[i].begin.Load()
		if begin <= 0 {
			continue
		}
		if waiting++; now-max(begin, since) > latency {
			late++
			if client := ds[i].client.Load(); len(clients) < leastWaiting && !slices.Contains(clients, client) {
				clients = append(clients, client)
			}
		}
	}
	return len(clients) == leastWaiting && late*waitingShare >= waiting
}

// sample has the counts of pages at a time.
type sample struct{ at, pages, slow, spent int64 }

// sample returns the counts of now.
func (l *Load) sample(now int64) sample {
	return sample{now, l.pages.Load(), l.slow.Load(), l.spent.Load()}
}

// isSlow reports whether people waited too long in the last window. It needs the
// lock.
func (l *Load) isSlow(now int64) bool {
	if l.Latency == 0 {
		return false
	}
	count := l.sample(now)
	pages, slow := count.pages-l.older.pages, count.slow-l.older.slow
	if now-l.newer.at >= int64(window/2) {
		l.older, l.newer = l.newer, count
	}
	return pages >= leastSamples && slow*slowShare > pages || l.waiting.areLate(l.since.Load(), now, int64(l.Latency))
}

// ObservePage counts the time from begin to now, after which a person got a page.
func (l *Load) ObservePage(begin, now int64) {
	if begin < l.since.Load() {
		return // it waited behind robots that are refused now
	}
	l.pages.Add(1)
	l.spent.Add(now - begin)
	if now-begin > int64(l.Latency) {
		l.slow.Add(1)
	}
	l.look(now)
}
