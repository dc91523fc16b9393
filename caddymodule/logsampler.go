package caddymodule

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// sampled returns a logger that writes at most n lines with the same message in
// a minute, by the times of the lines. It replaces zap's own sampler, which takes
// 450 KB of memory: too much for hundreds of sites.
func sampled(log *zap.Logger, n int) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return &samplingCore{Core: core, most: n, counts: &messageCounts{since: make(map[string]messageCount)}}
	}))
}

// samplingCore is a zapcore.Core that drops the lines over the limit.
type samplingCore struct {
	zapcore.Core
	most   int
	counts *messageCounts
}

// messageCounts counts lines by message. Messages are constants of the code, so
// there are few.
type messageCounts struct {
	mu    sync.Mutex
	since map[string]messageCount
}

type messageCount struct {
	begin time.Time // of the current minute
	n     int
}

// allow counts one line and reports whether it is within the limit.
func (c *messageCounts) allow(message string, at time.Time, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := c.since[message]
	if age := at.Sub(count.begin); age >= time.Minute || age < 0 {
		count = messageCount{begin: at}
	}
	count.n++
	c.since[message] = count
	return count.n <= most
}

// With implements zapcore.Core.
func (s *samplingCore) With(fields []zapcore.Field) zapcore.Core {
	return &samplingCore{s.Core.With(fields), s.most, s.counts}
}

// Check implements zapcore.Core.
func (s *samplingCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !s.Enabled(e.Level) || !s.counts.allow(e.Message, e.Time, s.most) {
		return checked
	}
	return s.Core.Check(e, checked)
}
