package step

import "github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"

// App is the app robots, as the modules beside the handler use it: ctx.App("robots")
// returns one.
type App interface {
	// Reporter returns what knows the state of the handlers.
	Reporter() statusapi.Reporter
}

// Uncounted is the name of a request variable: the robots handler does not count a request
// that has it when it ends.
const Uncounted = "caddy_robots.uncounted"

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
