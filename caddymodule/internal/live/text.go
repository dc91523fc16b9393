package live

import (
	"net/http"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// badRequest returns an error that is answered with status 400.
func badRequest(format string, args ...any) error {
	return statusapi.Errorf(http.StatusBadRequest, format, args...)
}

// lasting returns how long something has lasted, such as " for 5 minutes"; "" below a minute.
func lasting(d time.Duration) string {
	if d < time.Minute {
		return ""
	}
	return " for " + words.Ago(d)
}

// before orders values for which something is true before the others.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// quantity returns a number with a noun in the singular or plural.
func quantity(n int, noun string) string { return english.Plural(n, noun, "") }

// timeOf returns a time for JSON, nil if it is zero.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Truncate(time.Second))
}

// maxShown bounds each list of notes, tokens or findings of one robots.txt.
const maxShown = 100

// first returns the first maxShown elements of a list, never nil.
func first[T any](list []T) []T {
	return append([]T{}, list[:min(len(list), maxShown)]...)
}

// plainLocation returns the path or URL of a source, without credentials and
// query; "" for other sources.
func plainLocation(s *config.Source) string {
	location := s.Location()
	if s != nil && s.Kind == config.SourceURL {
		return metrics.PlainURL(location)
	}
	return location
}

// top has copies of the first elements in an order, of those that were added.
type top[T any] struct {
	limit   int
	compare func(a, b *T) int
	first   []T
}

// topOf returns a top with the elements of a list.
func topOf[T any](limit int, list []*T, compare func(a, b *T) int) *top[T] {
	t := &top[T]{limit, compare, []T{}}
	for _, one := range list {
		t.add(one)
	}
	return t
}

func (t *top[T]) add(one *T) {
	if len(t.first) == t.limit && t.compare(one, &t.first[t.limit-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(t.first, one, func(x T, one *T) int { return t.compare(&x, one) })
	t.first = slices.Insert(t.first, at, *one)
	t.first = t.first[:min(len(t.first), t.limit)]
}
