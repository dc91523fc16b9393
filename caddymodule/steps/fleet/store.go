package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// AddMembers implements step.Store.
func (f *limiter) AddMembers(ctx context.Context, set string, members []step.Member, most int) error {
	s, ok := f.server().(*connection)
	if !ok {
		return errDown
	}
	c, key := s.client, f.setName(set)
	add := c.B().Zadd().Key(key).ScoreMember()
	for _, m := range members {
		add = add.ScoreMember(float64(m.Time.Unix()), m.Name)
	}
	for _, reply := range c.DoMulti(ctx, add.Build(), c.B().Zremrangebyrank().Key(key).Start(0).Stop(-int64(most)-1).Build()) {
		if err := reply.Error(); err != nil {
			return explain(err)
		}
	}
	return nil
}

// Members implements step.Store.
func (f *limiter) Members(ctx context.Context, set string, most int) (members []step.Member, err error) {
	s, ok := f.server().(*connection)
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

// maxText is the largest text of a server, in octets.
const maxText = 4 << 20

// Exchange implements step.Store. The texts may be large: it has a connection of its own, so that no
// request waits for them. By it, a server that has no requests notices that the others can't be reached.
func (f *limiter) Exchange(ctx context.Context, set, server string, text []byte, keep time.Duration, most int, each func([]byte)) error {
	s, ok := f.server().(*connection)
	if !ok {
		return errDown
	}
	key := f.setName(set)
	err := s.client.Dedicated(func(c valkey.DedicatedClient) error {
		for _, reply := range c.DoMulti(ctx,
			c.B().Set().Key(key+server).Value(valkey.BinaryString(text)).Ex(keep).Build(),
			c.B().Zadd().Key(key).ScoreMember().ScoreMember(float64(time.Now().Unix()), server).Build(),
			c.B().Zremrangebyrank().Key(key).Start(0).Stop(-int64(most)-1).Build()) {
			if err := reply.Error(); err != nil {
				return err
			}
		}
		servers, err := c.Do(ctx, c.B().Zrevrange().Key(key).Start(0).Stop(int64(most)-1).Build()).AsStrSlice()
		for _, server := range servers {
			text, err := c.Do(ctx, c.B().Getrange().Key(key+server).Start(0).End(maxText-1).Build()).AsBytes()
			if err != nil {
				return err
			}
			if len(text) > 0 { // it has kept one lately
				each(text)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		f.fail(s, err)
	}
	return explain(err)
}

// setName returns the server's key for a set.
func (f *limiter) setName(set string) string { return f.config.Prefix + "{" + set + "}" }
