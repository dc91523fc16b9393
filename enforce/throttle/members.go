package throttle

import (
	"context"
	"strconv"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Member is an element of a set that servers share.
type Member struct {
	Name string
	Time time.Time // by the clock of the server that added it, to the second
}

// AddMembers adds to a set that all servers of the fleet share. Members older
// than keep are removed, and so are the oldest if there are more than most. It
// waits for the server until ctx ends, so don't call it on the request path.
// While the server is unavailable, it returns an error at once.
func (f *Fleet) AddMembers(ctx context.Context, set string, members []Member, keep time.Duration, most int) error {
	s, ok := f.server().(scripted)
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

// Members returns a set's members and its version. If the version equals known,
// no members are returned, because none were added since. Of more members than
// most, only the newest are returned.
func (f *Fleet) Members(ctx context.Context, set, known string, most int) (members []Member, version string, err error) {
	s, ok := f.server().(scripted)
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

// setName returns the key of a set. A cluster keeps it and its version on one
// node.
func (f *Fleet) setName(set string) string { return f.config.Prefix + "{" + set + "}" }

// setVersion returns the key of the number of times that a set was added to.
func (f *Fleet) setVersion(set string) string { return f.setName(set) + ":version" }
