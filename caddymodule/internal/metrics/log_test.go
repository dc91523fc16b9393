package metrics

import (
	"testing"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
)

// fixedClock is a zapcore.Clock that a test sets.
type fixedClock struct{ now time.Time }

func (c *fixedClock) Now() time.Time                       { return c.now }
func (*fixedClock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

func TestLimitedLogsEqualLinesPerMinute(t *testing.T) {
	core, logs := zapobserver.New(zap.InfoLevel)
	clock := &fixedClock{time.Unix(1e9, 0)}
	log := Limited(zap.New(core, zap.WithClock(clock)), 3).With(zap.String("site", "a.test"))
	for range 10 {
		log.Info("one")
		log.Debug("not enabled")
		log.Warn("other")
	}
	if n := logs.FilterMessage("one").Len(); n != 3 || logs.Len() != 6 {
		t.Errorf("%d lines of one message, %d in all; want 3 and 6", n, logs.Len())
	}
	clock.now = clock.now.Add(time.Minute)
	log.Info("one")
	clock.now = clock.now.Add(-time.Hour) // set back
	log.Info("one")
	if n := logs.FilterMessage("one").Len(); n != 5 {
		t.Errorf("%d lines after a minute and with the clock set back, want 5", n)
	}
	if logs.All()[0].ContextMap()["site"] != "a.test" {
		t.Error("fields are lost")
	}
}
