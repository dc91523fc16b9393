package throttle

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Instances of a fleet add members to a set, and read the members that others
// have added.
func TestMembers(t *testing.T) {
	t.Parallel()
	s, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	config, err := ParseFleetURL("redis://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	config.Prefix = "members:"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var fleets []*Fleet
	for range 2 {
		f, err := NewFleet(config, NewMemory(100), noObserver{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fleets = append(fleets, f)
		for f.server("k") == nil {
			if ctx.Err() != nil {
				t.Fatal("the server can't be reached")
			}
			time.Sleep(time.Millisecond)
		}
	}
	set := t.Name()
	none, empty, err := fleets[0].Members(ctx, set, "-", 10)
	if err != nil || len(none) != 0 || empty != "" {
		t.Fatalf("before the first member: %v, %q, %v", none, empty, err)
	}
	now := time.Unix(1_800_000_000, 0)
	add := func(f *Fleet, members ...Member) {
		t.Helper()
		if err := f.AddMembers(ctx, set, members, time.Hour, 5); err != nil {
			t.Fatal(err)
		}
	}
	names := func(f *Fleet, known string, most int) (names []string, version string) {
		t.Helper()
		members, version, err := f.Members(ctx, set, known, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			names = append(names, fmt.Sprintf("%s@%d", m.Name, m.Time.Unix()-now.Unix()))
		}
		return names, version
	}
	add(fleets[0])
	if _, version := names(fleets[1], "", 10); version != "" {
		t.Errorf("version %q after adding nothing", version)
	}
	add(fleets[0], Member{"a", now}, Member{"b\x00\xff", now.Add(time.Second)})
	got, version := names(fleets[1], empty, 10)
	if !slices.Equal(got, []string{"b\x00\xff@1", "a@0"}) {
		t.Errorf("%q", got)
	}
	if got, again := names(fleets[1], version, 10); got != nil || again != version {
		t.Errorf("the known version: %q, %q", got, again)
	}
	add(fleets[1], Member{"a", now.Add(2 * time.Second)})
	if got, _ := names(fleets[0], version, 1); !slices.Equal(got, []string{"a@2"}) {
		t.Errorf("the newest: %q", got)
	}
	for i := range 6 {
		add(fleets[1], Member{fmt.Sprint(i), now.Add(time.Minute)})
	}
	if got, _ := names(fleets[0], version, 10); !slices.Equal(got, []string{"5@60", "4@60", "3@60", "2@60", "1@60"}) {
		t.Errorf("set of at most five: %q", got)
	}
	add(fleets[0], Member{"later", now.Add(2 * time.Hour)})
	if got, _ := names(fleets[0], version, 10); !slices.Equal(got, []string{"later@7200"}) {
		t.Errorf("an hour later: %q", got)
	}
	if err := fleets[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := fleets[0].AddMembers(ctx, set, []Member{{"x", now}}, time.Hour, 5); err == nil {
		t.Error("AddMembers of a closed Fleet has no error")
	}
	if _, version, err := fleets[0].Members(ctx, set, "known", 5); err == nil || version != "known" {
		t.Errorf("Members of a closed Fleet returns version %q", version)
	}
}

func TestPublishedValues(t *testing.T) {
	t.Parallel()
	config := FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute, Prefix: fmt.Sprintf("published:%d:", time.Now().UnixNano())}
	a, _ := newFleet(t, config)
	b, _ := newFleet(t, config)
	now := time.Now()
	for i, f := range []*Fleet{a, b, a} {
		m := Member{Name: []string{"a", "b", "a"}[i], Time: now.Add(time.Duration(i) * time.Second)}
		if _, err := f.Publish(t.Context(), "set", m, fmt.Appendf(nil, "value %d\x00\xff", i), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	by := func(f *Fleet, process, name string) bool {
		t.Helper()
		c := f.server(f.setName("set")).(*node).client
		if err := c.Do(t.Context(), c.B().Set().Key(f.valueName("set", name)+":by").Value(process).Build()).Error(); err != nil {
			t.Fatal(err)
		}
		isOthers, err := f.Publish(t.Context(), "set", Member{Name: name, Time: now.Add(-time.Second)}, []byte("value"), time.Hour)
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
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Published(t.Context(), "set"); err == nil {
		t.Error("a closed Fleet returns values")
	}
}
