package throttle

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
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

// maxServers is how many values of instances a set has at most.
const maxServers = 1000

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
			f.link.fail(s, err)
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
