package status

import (
	"context"
	"fmt"
)

// Reporter makes what is told. Its methods are safe for concurrent use. An error
// is a *Error where it is the fault of whoever asks.
type Reporter interface {
	// Sites returns the names of the sites in a scope, sorted and without
	// duplicates.
	Sites(Scope) []string
	// HasSite reports whether a scope has the site of this name, or a host of
	// this name that one of its sites serves. The name is in lower case.
	HasSite(s Scope, name string) bool

	Summary(Scope, SummaryQuery) (*Summary, error)
	Policies(Scope, PoliciesQuery) (*Policies, error)
	Crawlers(Scope, CrawlersQuery) (*Crawlers, error)
	Rules(Scope, RulesQuery) (*Rules, error)
	Recent(Scope, RecentQuery) (*Recent, error)
	Suspects(Scope, Pages) (*Suspects, error)
	Budgets(Scope, BudgetsQuery) (*Budgets, error)
	Check(Scope, CheckQuery) (*Check, error)
	Health(Scope) (*Health, error)

	// Refresh reads sources again and waits for them, within the bounds of ctx.
	Refresh(context.Context, Scope, RefreshQuery) (*Refresh, error)
	ResetBudgets(context.Context, Scope, ResetQuery) (*Reset, error)
	SetMode(Scope, ModeQuery) (*Mode, error)
}

// Error is what is wrong with a question.
type Error struct {
	Status  int // of HTTP: 400, 404 …
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error.
func Errorf(code int, format string, args ...any) error {
	return &Error{Status: code, Message: fmt.Sprintf(format, args...)}
}
