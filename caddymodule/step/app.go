package step

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// App is the app robots, as the modules beside the handler use it: ctx.App("robots")
// returns one.
type App interface {
	// Reporter returns what knows the state of the handlers.
	Reporter() statusapi.Reporter
	// CountAtEnd makes the handlers count requests that are let through when they end, so
	// that Uncount works. Call it while the configuration is provisioned.
	CountAtEnd()
}

// UncountVar is the name of the request variable with which the handler offers Uncount.
const UncountVar = "caddy_robots.uncount"

// Uncount makes the robots handlers not count a request that is being served.
func Uncount(r *http.Request) {
	if x, ok := caddyhttp.GetVar(r.Context(), UncountVar).(interface{ Uncount() }); ok {
		x.Uncount()
	}
}

// problems are what ReportProblems was given. It changes only while the program starts.
var problems []func() []Problem

// ReportProblems makes status report the problems that a function returns, which are those
// of no site. Call it while the program starts.
func ReportProblems(find func() []Problem) { problems = append(problems, find) }

// Problems returns the problems that are to be reported.
func Problems() (list []Problem) {
	for _, find := range problems {
		list = append(list, find()...)
	}
	return list
}
