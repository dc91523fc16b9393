package fleet

import (
	"os"
	"strconv"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

const advice = "Check that Redis or Valkey runs and that this server can reach it. Until then each server allows crawlers " +
	"its own share of the budget."

// trouble returns why budgets are not shared, "" if they are, and since when that is so. It
// is zero before the first answer.
func (f *limiter) trouble() (why string, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == stateDown {
		why = "Redis has not answered"
		if d := time.Since(f.since); d >= time.Minute {
			why += " for " + words.Ago(d)
		}
		why += ": each server counts alone"
	}
	return why, f.since
}

// View implements step.Viewer.
func (f *Fleet) View(bool) step.Section {
	trouble, since := f.redis.trouble()
	row := []string{"", strconv.Itoa(f.redis.config.Instances), trouble}
	if !since.IsZero() {
		row[0] = since.UTC().Format("2006-01-02 15:04")
	}
	return step.Section{
		Title:   "Budgets that servers share",
		Columns: []step.Column{{Name: "since"}, {Name: "instances", Number: true}, {Name: "trouble"}}, Rows: [][]string{row},
	}
}

// lostFor is how long Redis does not answer before that is an accident.
const lostFor = 10 * time.Second

var fleetLost = statusapi.NewAccident("fleet_lost",
	"The Redis of a `fleet` has not answered for ten seconds: each server counts alone. It ends when Redis answers.")

// Problems implements step.Diagnoser: one of the steps with a connection tells for all.
func (f *Fleet) Problems(bool) []step.Problem {
	trouble, since := f.redis.trouble()
	sites, teller := f.redis.sites()
	if trouble == "" || teller != f || len(sites) == 0 {
		return nil
	}
	name, _ := os.Hostname()
	p := step.Problem{Severity: statusapi.Severe, Kind: "fleet", Message: name + ": " + trouble, Advice: advice, Since: &since, Sites: sites, Cause: name}
	if time.Since(since) >= lostFor {
		p.Kind = fleetLost
	}
	return []step.Problem{p}
}
