package fleet

import (
	"errors"
	"testing"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
)

// A Redis that comes and goes causes a few lines.
func TestFleetLogsAnOutage(t *testing.T) {
	core, logs := zapobserver.New(zap.InfoLevel)
	f := newRedis(config{}, nil)
	f.log.Set(metrics.Limited(zap.New(core), logLines))
	for range 100 {
		f.changed(stateUp, nil)
		f.changed(stateDown, errors.New("reset"))
	}
	if logs.Len() != 2*logLines {
		t.Fatalf("%d lines", logs.Len())
	}
}
