package fleet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
)

// A Redis that comes and goes causes one line when it goes, and one when it has
// answered for ten seconds.
func TestFleetLogsAnOutageOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := zapobserver.New(zap.InfoLevel)
		f := &observer{instances: 4}
		f.log.Set(zap.New(core))
		defer f.close()
		check := func(when string, lines int, up bool) {
			t.Helper()
			synctest.Wait()
			if logs.Len() != lines || f.last.Load().up != up {
				t.Fatalf("%s: %d lines, up %t; want %d, %t", when, logs.Len(), f.last.Load().up, lines, up)
			}
		}
		f.changed(stateUp, nil)
		check("at the first connection", 1, true)
		for range 100 {
			f.changed(stateDown, errors.New("reset"))
			check("in the outage", 2, false)
			time.Sleep(3 * time.Second)
			f.changed(stateUp, nil)
			time.Sleep(steadyAfter - time.Second)
			check("while it comes and goes", 2, true)
		}
		time.Sleep(time.Second)
		check("after the outage", 3, true)
		if last := logs.All()[2]; last.Message != "fleet: budgets are shared" || !last.ContextMap()["since"].(time.Time).Equal(time.Now().Add(-steadyAfter)) {
			t.Errorf("the last line is %v", last)
		}
		f.changed(stateDown, errors.New("reset"))
		check("in the next outage", 4, false)
		f.changed(stateUp, nil)
		f.close()
		time.Sleep(time.Minute)
		check("after Close", 4, true)
	})
}
