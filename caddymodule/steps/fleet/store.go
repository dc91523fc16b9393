package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// AddMembers implements step.Store.
func (f *limiter) AddMembers(ctx context.Context, set string, members []step.Member, keep time.Duration, most int) error {
	s, ok := f.server(f.setName(set)).(*node)
	if !ok {
		return errDown
	}
	if len(members) == 0 {
		return nil
	}
	c, key := s.client, f.setName(set)
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
	) {
		if err := reply.Error(); err != nil {
			return explain(err)
		}
	}
	return nil
}

// Members implements step.Store.
func (f *limiter) Members(ctx context.Context, set string, most int) (members []step.Member, err error) {
	s, ok := f.server(f.setName(set)).(*node)
	if !ok {
		return nil, errDown
	}
	scores, err := s.client.Do(ctx, s.client.B().Zrevrange().Key(f.setName(set)).Start(0).Stop(int64(most)-1).Withscores().Build()).AsZScores()
	if err != nil {
		return nil, explain(err)
	}
	for _, z := range scores {
		members = append(members, step.Member{Name: z.Member, Time: time.Unix(int64(z.Score), 0)})
	}
	return members, nil
}

// setName returns the server's key for a set.
func (f *limiter) setName(set string) string { return f.config.Prefix + "{" + set + "}" }

// maxServers is how many values of instances a set has at most.
const maxServers = 1000

// Published is what an instance published in a set.
type Published struct {
	step.Member
	Value []byte
}

// process is this process, for those that publish under the same name.
var process = strconv.FormatUint(rand.Uint64(), 16)

// Publish stores a value under the name of a member in a set that all instances
// share, in place of its value before. It is there until keep after the last call.
// Publish waits for the server like AddMembers. It reports whether the value before
// was another process's: an earlier one of this server, or one that takes it for itself.
func (f *limiter) Publish(ctx context.Context, set string, m step.Member, value []byte, keep time.Duration) (isOthers bool, err error) {
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
	return before != "" && before != process, f.AddMembers(ctx, set, []step.Member{m}, keep, maxServers)
}

// Published returns the values that instances published in a set, newest first, but
// no more than 1,000. It waits for the server like Members.
func (f *limiter) Published(ctx context.Context, set string) (list []Published, err error) {
	members, err := f.Members(ctx, set, maxServers)
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
func (f *limiter) valueName(set, member string) string { return f.setName(set) + ":" + member }
