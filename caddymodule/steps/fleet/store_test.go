package fleet

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Instances of a fleet add members to a set, and read the members that others
// have added.
func TestMembers(t *testing.T) {
	t.Parallel()
	s, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	config, err := parseURL("redis://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	config.Prefix = "members:"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var fleets []*limiter
	for range 2 {
		f := newLimiter(config, throttle.NewMemory(100), noObserver{})
		f.connect()
		defer f.close()
		fleets = append(fleets, f)
		for f.server("k") == nil {
			if ctx.Err() != nil {
				t.Fatal("the server can't be reached")
			}
			time.Sleep(time.Millisecond)
		}
	}
	set := t.Name()
	if none, err := fleets[0].Members(ctx, set, 10); err != nil || len(none) != 0 {
		t.Fatalf("before the first member: %v, %v", none, err)
	}
	member := func(name string, at time.Time) step.Member { return step.Member{Name: name, Time: at} }
	now := time.Unix(1_800_000_000, 0)
	add := func(f *limiter, members ...step.Member) {
		t.Helper()
		if err := f.AddMembers(ctx, set, members, time.Hour, 5); err != nil {
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
	add(fleets[0])
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
	add(fleets[0], member("later", now.Add(2*time.Hour)))
	if got := names(fleets[0], 10); !slices.Equal(got, []string{"later@7200"}) {
		t.Errorf("an hour later: %q", got)
	}
	fleets[0].close()
	if err := fleets[0].AddMembers(ctx, set, []step.Member{member("x", now)}, time.Hour, 5); err == nil {
		t.Error("AddMembers of a closed limiter has no error")
	}
	if _, err := fleets[0].Members(ctx, set, 5); err == nil {
		t.Error("Members of a closed limiter has no error")
	}
}

func TestPublishedValues(t *testing.T) {
	t.Parallel()
	config := config{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute, Prefix: fmt.Sprintf("published:%d:", time.Now().UnixNano())}
	a, _ := newFleet(t, config)
	b, _ := newFleet(t, config)
	now := time.Now()
	for i, f := range []*limiter{a, b, a} {
		m := step.Member{Name: []string{"a", "b", "a"}[i], Time: now.Add(time.Duration(i) * time.Second)}
		if _, err := f.Publish(t.Context(), "set", m, fmt.Appendf(nil, "value %d\x00\xff", i), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	by := func(f *limiter, process, name string) bool {
		t.Helper()
		c := f.server(f.setName("set")).(*node).client
		if err := c.Do(t.Context(), c.B().Set().Key(f.valueName("set", name)+":by").Value(process).Build()).Error(); err != nil {
			t.Fatal(err)
		}
		isOthers, err := f.Publish(t.Context(), "set", step.Member{Name: name, Time: now.Add(-time.Second)}, []byte("value"), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return isOthers
	}
	if by(b, process, "b") || !by(b, "another", "b") {
		t.Error("a value of this process counts as another one's, or the other way round")
	}
	list, err := b.Published(t.Context(), "set")
	if err != nil || len(list) != 2 || list[0].Name != "a" || string(list[0].Value) != "value 2\x00\xff" || list[1].Name != "b" {
		t.Errorf("%v: %q", err, list)
	}
	a.close()
	if _, err := a.Published(t.Context(), "set"); err == nil {
		t.Error("a closed limiter returns values")
	}
}
