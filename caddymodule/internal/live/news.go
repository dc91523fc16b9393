package live

import (
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The states of News.
const (
	Begins  = "begin"
	Changes = "change" // of the crawler, the cause or the host
	Ends    = "end"
)

// News is the news that an accident begins, changes or ends.
type News struct {
	State string // `begin`, `change` or `end`
	Accident
	Message string
}

// maxNews is the largest number of news in an hour.
const maxNews = 60

// News returns the next news about accidents, and false if there are none, or were
// too many. It tells each one once in the process. If accidents change faster, it
// leaves out what is no longer true.
func (r *Reporter) News() (News, bool) {
	if !r.app.Active() {
		return News{}, false
	}
	open, now, a := r.accidents(statusapi.AllSites()), r.app.Now(), r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times = slices.DeleteFunc(a.times, func(t time.Time) bool { return now.Sub(t) >= time.Hour || t.After(now) })
	if len(a.times) >= maxNews {
		return News{}, false
	}
	tell := func(state string, one Accident) (News, bool) {
		a.times = append(a.times, now)
		if a.told[one.key()] = one; state == Ends {
			delete(a.told, one.key())
		}
		return News{state, one, one.problem().Message}, true
	}
	for _, one := range open {
		switch was, ok := a.told[one.key()]; {
		case !ok:
			return tell(Begins, one)
		case was.Crawler != one.Crawler || was.Cause != one.Cause || was.Site != one.Site:
			return tell(Changes, one)
		}
	}
	for key, was := range a.told {
		if !slices.ContainsFunc(open, func(one Accident) bool { return one.key() == key }) {
			return tell(Ends, was)
		}
	}
	return News{}, false
}
