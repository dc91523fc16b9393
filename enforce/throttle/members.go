package throttle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Member is a member of a set that the instances of a Fleet share. Such a set is
// for facts about clients that all servers should know, such as which of them
// raised a signal of a robot.
type Member struct {
	Name string
	Time time.Time // by the clock of the instance that added it, in whole seconds
}

// AddMembers adds members to a set that all instances of the Fleet share. It
// removes from the set all members that are more than keep older than the newest
// one in members. If the set still has more than most members, it removes the
// oldest ones. It waits for the server until ctx ends, so don't call it on the
// request path. While the server is unavailable, it returns an error at once.
func (f *Fleet) AddMembers(ctx context.Context, set string, members []Member, keep time.Duration, most int) error {
	s, ok := f.server(f.setName(set)).(*node)
	if !ok {
		return errDown
	}
	if len(members) == 0 {
		return nil
	}
	c, key, version := s.client, f.setName(set), f.setVersion(set)
	newest := members[0].Time
	add := c.B().Zadd().Key(key).ScoreMember()
	for _, m := range members {
		add = add.ScoreMember(float64(m.Time.Unix()), m.Name)
		if m.Time.After(newest) {
			newest = m.Time
		}
	}
	life := int64(keep / time.Second)
	for _, reply := range c.DoMulti(ctx,
		add.Build(),
		c.B().Zremrangebyscore().Key(key).Min("-inf").Max("("+strconv.FormatInt(newest.Unix()-life, 10)).Build(),
		c.B().Zremrangebyrank().Key(key).Start(0).Stop(-int64(most)-1).Build(),
		c.B().Expire().Key(key).Seconds(life).Build(),
		c.B().Incr().Key(version).Build(),
		c.B().Expire().Key(version).Seconds(life).Build(),
	) {
		if err := reply.Error(); err != nil {
			return explain(err)
		}
	}
	return nil
}

// Members returns the members of a set, newest first, but no more than most,
// and the version of the set. The version changes whenever AddMembers adds
// members. known is the version that an earlier call returned, or "": if the set
// still has it, Members returns no members. Members waits for the server until
// ctx ends. While the server is unavailable, it returns an error at once.
func (f *Fleet) Members(ctx context.Context, set, known string, most int) (members []Member, version string, err error) {
	s, ok := f.server(f.setName(set)).(*node)
	if !ok {
		return nil, known, errDown
	}
	version, err = s.client.Do(ctx, s.client.B().Get().Key(f.setVersion(set)).Build()).ToString()
	if valkey.IsValkeyNil(err) {
		version, err = "", nil
	}
	if err != nil {
		return nil, known, explain(err)
	}
	if version == known {
		return nil, known, nil
	}
	scores, err := s.client.Do(ctx, s.client.B().Zrevrange().Key(f.setName(set)).Start(0).Stop(int64(most)-1).Withscores().Build()).AsZScores()
	if err != nil {
		return nil, known, explain(err)
	}
	for _, z := range scores {
		members = append(members, Member{z.Member, time.Unix(int64(z.Score), 0)})
	}
	return members, version, nil
}

// setName returns the server's key for a set. A cluster stores a set and its
// version on the same node.
func (f *Fleet) setName(set string) string { return f.config.Prefix + "{" + set + "}" }

// setVersion returns the server's key for the number of times that AddMembers
// was called for a set.
func (f *Fleet) setVersion(set string) string { return f.setName(set) + ":version" }

// wireForm is the number of the form in which processes share budgets: the names of
// keys, the limits and values that take.lua gets and stores, and the sets. It is 1
// since version 0.1.0, whose keys have no number; those of a later form must begin
// with their number after the prefix. Package enforce makes the keys: what it hashes
// is a part of the form.
const wireForm = 1

// Each process adds itself to a set, with the form that it uses, and knows so of
// others that use another form and share no budgets with it. Version 0.1.0 does not.
const (
	serverSet     = "servers"
	announceEvery = 20 * time.Second
	announcedFor  = time.Minute
	maxServers    = 1000
)

// announce adds this process to the set, and tells the observer how many others use
// another form whenever their number changes, until the link is closed.
func (f *Fleet) announce(form int) {
	own, known := Member{Name: fmt.Sprintf("%d %016x", form, rand.Uint64())}, 0
	for pause := time.Second; f.link.sleep(pause); {
		others, alive, err := f.othersThan(own)
		if pause = announceEvery; err == errDown {
			pause = time.Second
		}
		if err == nil {
			f.local.members.saw(alive, time.Now())
		}
		if err == nil && others != known {
			known = others
			f.obs.FleetMixed(others)
		}
	}
}

// Instances returns how many processes share the server: FleetConfig.Instances, or
// else the largest number of those that were seen at the same time in the last hour
// before the server last answered, at least 1. Version 0.1.0 does not count.
func (f *Fleet) Instances() int {
	if f.config.Instances > 0 {
		return f.config.Instances
	}
	return int(max(1, f.local.members.now.Load(), f.local.members.before.Load()))
}

// census has the largest numbers of processes that were seen at the same time: in
// the hour that runs, and in the hour before it. It outlives a Fleet, so that a
// reload of the configuration while the server is unavailable forgets nothing.
type census struct {
	now, before atomic.Int32
	mu          sync.Mutex
	began       time.Time // of the hour that runs
}

func (c *census) saw(n int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := at.Sub(c.began); age >= time.Hour || age < 0 {
		c.before.Store(c.now.Swap(0))
		c.began = at
	}
	c.now.Store(max(c.now.Load(), int32(min(n, maxInstances))))
}

// Published is what an instance of a Fleet published in a set.
type Published struct {
	Member
	Value []byte
}

// process is this process, for those that publish under the same name.
var process = strconv.FormatUint(rand.Uint64(), 16)

// Publish stores a value under the name of a member in a set that all instances
// share, in place of its value before. It is there until keep after the last call.
// Publish waits for the server like AddMembers. It reports whether the value before
// was another process's: an earlier one of this server, or one that takes it for itself.
func (f *Fleet) Publish(ctx context.Context, set string, m Member, value []byte, keep time.Duration) (isOthers bool, err error) {
	s, ok := f.server(f.setName(set)).(*node)
	if !ok {
		return false, errDown
	}
	c, name, by := s.client, f.valueName(set, m.Name), f.valueName(set, m.Name)+":by"
	replies := c.DoMulti(ctx,
		c.B().Get().Key(by).Build(),
		c.B().Set().Key(by).Value(process).Ex(keep).Build(),
		c.B().Set().Key(name).Value(valkey.BinaryString(value)).Ex(keep).Build(),
	)
	for _, reply := range replies {
		err := reply.Error()
		if err == nil || valkey.IsValkeyNil(err) {
			continue
		}
		if !errors.Is(err, context.Canceled) { // so that a server without requests knows it too
			f.link.fail(s, m.Time.UnixMicro(), err)
		}
		return false, explain(err)
	}
	before, _ := replies[0].ToString()
	return before != "" && before != process, f.AddMembers(ctx, set, []Member{m}, keep, maxServers)
}

// Published returns the values that instances published in a set, newest first, but
// no more than 1,000. It waits for the server like Members.
func (f *Fleet) Published(ctx context.Context, set string) (list []Published, err error) {
	members, _, err := f.Members(ctx, set, "-", maxServers)
	s, ok := f.server(f.setName(set)).(*node)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errDown
	}
	const atOnce = 50 // values, so that Redis serves others between
	for part := range slices.Chunk(members, atOnce) {
		keys := make([]string, len(part))
		for i, m := range part {
			keys[i] = f.valueName(set, m.Name)
		}
		values, err := s.client.Do(ctx, s.client.B().Mget().Key(keys...).Build()).ToArray()
		if err != nil {
			return nil, explain(err)
		}
		for i, v := range values[:min(len(values), len(part))] {
			if text, err := v.ToString(); err == nil {
				list = append(list, Published{part[i], []byte(text)})
			}
		}
	}
	return list, nil
}

// valueName returns the server's key for the value of a member. A cluster stores it
// on the node of the set.
func (f *Fleet) valueName(set, member string) string { return f.setName(set) + ":" + member }

// othersThan adds a member to the set of processes, and returns how many in it use
// another form, and how many there are.
func (f *Fleet) othersThan(own Member) (n, alive int, err error) {
	ctx, cancel := context.WithTimeout(f.link.ctx, probeTimeout)
	defer cancel()
	own.Time = time.Now()
	if err := f.AddMembers(ctx, serverSet, []Member{own}, announcedFor, maxServers); err != nil {
		return 0, 0, err
	}
	members, _, err := f.Members(ctx, serverSet, "-", maxServers)
	form, _, _ := strings.Cut(own.Name, " ")
	for _, m := range members {
		if own.Time.Sub(m.Time) >= announcedFor {
			continue
		}
		alive++
		if other, _, _ := strings.Cut(m.Name, " "); other != form {
			n++
		}
	}
	return n, alive, err
}
