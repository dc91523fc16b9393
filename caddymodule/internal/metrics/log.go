package metrics

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
)

// maxLogged is the longest value from a client in a log line, in octets.
const maxLogged = 256

// Clip shortens a value from a client to 256 octets.
func Clip(s string) string { return s[:min(len(s), maxLogged)] }

// Logger is the logger of the newest configuration. The zero value logs nothing.
type Logger struct{ current atomic.Pointer[zap.Logger] }

// Set makes it the logger of a configuration.
func (l *Logger) Set(log *zap.Logger) { l.current.Store(log) }

// Load returns the logger.
func (l *Logger) Load() *zap.Logger {
	if log := l.current.Load(); log != nil {
		return log
	}
	return zap.NewNop()
}

// Limited returns a Logger that writes n lines with the same message at once, and then n in a
// minute, by the times of the lines. It replaces zap's own sampler, which takes
// 450 KB of memory: too much for hundreds of sites.
func Limited(log *zap.Logger, n int) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return &limitedCore{Core: core, most: n, gates: new(sync.Map)}
	}))
}

// limitedCore is a zapcore.Core that drops the lines over the limit.
type limitedCore struct {
	zapcore.Core
	most  int
	gates *sync.Map // of *logquota.Gate, by message: messages are constants of the code, so there are few
}

// With implements zapcore.Core.
func (c *limitedCore) With(fields []zapcore.Field) zapcore.Core {
	return &limitedCore{c.Core.With(fields), c.most, c.gates}
}

// Check implements zapcore.Core.
func (c *limitedCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) {
		return checked
	}
	gate, _ := c.gates.LoadOrStore(e.Message, new(logquota.Gate))
	if _, ok := gate.(*logquota.Gate).Pass(e.Time.UnixNano(), time.Minute/time.Duration(c.most), c.most-1); !ok {
		return checked
	}
	return c.Core.Check(e, checked)
}

// PlainURL returns a URL without credentials, query and fragment. It returns ""
// if raw is not a URL.
func PlainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	return u.String()
}

// PlainError returns the text of an error, with credentials and queries removed
// from the URLs in it.
func PlainError(err error) string {
	if err == nil {
		return ""
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it does not contain the URL
	}
	words := strings.Split(Clip(err.Error()), " ")
	for i, word := range words {
		if strings.Contains(word, "://") {
			bare := strings.Trim(word, "\"',;:()")
			words[i] = strings.Replace(word, bare, PlainURL(bare), 1)
		}
	}
	return strings.Join(words, " ")
}
