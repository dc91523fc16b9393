package metrics

import (
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/challenge"
)

var challengeResults = NewCounter("challenges_total",
	"Checks of strangers, by result: pages shown, cookies sent with the style sheet, new passes that came back, presses of the button, "+
		"and requests that got 429.", "result")

// Challenges is a challenge.Observer. The zero value is ready.
type Challenges struct {
	log    Logger
	failed atomic.Bool // the keys can't be read or stored
}

// Start logs to log from now on.
func (c *Challenges) Start(log *zap.Logger) { c.log.Set(log) }

// Checked implements challenge.Observer.
func (*Challenges) Checked(r challenge.Result) { challengeResults.WithLabelValues(r.String()).Inc() }

// KeyFailed implements challenge.Observer.
func (c *Challenges) KeyFailed(err error) {
	if failed := err != nil; c.failed.Swap(failed) == failed {
		return
	}
	if err != nil {
		c.log.Load().Error("challenge: the keys of passes can't be read or stored: passes may end with this process", zap.Error(err))
		return
	}
	c.log.Load().Info("challenge: the keys of passes can be read and stored again")
}
