package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// Instances of a fleet add members to a set, and read the members that others
// have added.
func TestMembers(t *testing.T) {
	t.Parallel()
	c, ctx := config{ClientOption: at(testServer(t, false).address), Prefix: fmt.Sprintf("members:%d:", time.Now().UnixNano()), Deadline: time.Minute}, t.Context()
	one, _ := newFleet(t, c)
	two, _ := newFleet(t, c)
	fleets := []*limiter{one, two}
	set := t.Name()
	if none, err := fleets[0].Members(ctx, set, 10); err != nil || len(none) != 0 {
		t.Fatalf("before the first member: %v, %v", none, err)
	}
	member := func(name string, at time.Time) step.Member { return step.Member{Name: name, Time: at} }
	now := time.Unix(1_800_000_000, 0)
	add := func(f *limiter, members ...step.Member) {
		t.Helper()
		if err := f.AddMembers(ctx, set, members, 5); err != nil {
			t.Fatal(err)
		}
	}
	names := func(f *limiter, most int) (names []string) {
		t.Helper()
		members, err := f.Members(ctx, set, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			names = append(names, fmt.Sprintf("%s@%d", m.Name, m.Time.Unix()-now.Unix()))
		}
		return names
	}
	add(fleets[0], member("a", now), member("b\x00\xff", now.Add(time.Second)))
	if got := names(fleets[1], 10); !slices.Equal(got, []string{"b\x00\xff@1", "a@0"}) {
		t.Errorf("%q", got)
	}
	add(fleets[1], member("a", now.Add(2*time.Second)))
	if got := names(fleets[0], 1); !slices.Equal(got, []string{"a@2"}) {
		t.Errorf("the newest: %q", got)
	}
	for i := range 6 {
		add(fleets[1], member(fmt.Sprint(i), now.Add(time.Minute)))
	}
	if got := names(fleets[0], 10); !slices.Equal(got, []string{"5@60", "4@60", "3@60", "2@60", "1@60"}) {
		t.Errorf("set of at most five: %q", got)
	}
	fleets[0].close()
	if err := fleets[0].AddMembers(ctx, set, []step.Member{member("x", now)}, 5); err == nil {
		t.Error("AddMembers of a closed limiter has no error")
	}
	if _, err := fleets[0].Members(ctx, set, 5); err == nil {
		t.Error("Members of a closed limiter has no error")
	}
}

// Servers of a fleet exchange texts: each gets the last one of all, the newest first, and no more
// than it wants.
func TestExchange(t *testing.T) {
	t.Parallel()
	c, ctx := config{ClientOption: at(testServer(t, false).address), Prefix: fmt.Sprintf("exchange:%d:", time.Now().UnixNano()), Deadline: time.Minute}, t.Context()
	f, _ := newFleet(t, c)
	exchange := func(server, text string, most int) (texts []string) {
		t.Helper()
		if err := f.Exchange(ctx, "counts", server, []byte(text), time.Hour, most, func(text []byte) { texts = append(texts, string(text)) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(texts)
		return texts
	}
	large := strings.Repeat("\x00\xff", maxText)
	for _, step := range []struct {
		server, text string
		most         int
		want         []string
	}{
		{"a", "first", 10, []string{"first"}},
		{"b", "b\x00\xff", 10, []string{"b\x00\xff", "first"}},
		{"a", "second", 10, []string{"b\x00\xff", "second"}},
		{"c", large, 10, []string{large[:maxText], "b\x00\xff", "second"}},
		{"c", "third", 1, []string{"third"}},
	} {
		if got := exchange(step.server, step.text, step.most); !slices.Equal(got, step.want) {
			t.Errorf("%s %.10q: %.40q", step.server, step.text, got)
		}
	}
	client := f.server().(*connection).client
	if left, err := client.Do(ctx, client.B().Ttl().Key(f.setName("counts")+"c").Build()).AsInt64(); err != nil || left < 1 || left > 3600 {
		t.Errorf("a text lasts for %d s, %v", left, err)
	}
	f.close()
	if err := f.Exchange(ctx, "counts", "a", nil, time.Hour, 1, nil); err == nil {
		t.Error("Exchange of a closed limiter has no error")
	}
}

// A server without requests notices that Redis is away.
func TestExchangeWithoutServer(t *testing.T) {
	t.Parallel()
	server := testServer(t, true)
	f, r := newFleet(t, config{ClientOption: at(server.address), Deadline: time.Minute})
	server.kill()
	if err := f.Exchange(t.Context(), "counts", "a", []byte("a"), time.Hour, 10, func([]byte) {}); err == nil {
		t.Error("Exchange without a server has no error")
	}
	r.await(t, stateDown)
}
