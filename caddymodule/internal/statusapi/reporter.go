package statusapi

import (
	"context"
	"fmt"
)

// Reporter provides the data of a running app. Its methods are safe for concurrent
// use. If a query is wrong, they return an *Error.
type Reporter interface {
	// Sites returns the names of the sites in a scope, sorted and without
	// duplicates.
	Sites(Scope) []string
	// HasSite reports whether a scope has the site of this name, or a host of
	// this name that one of its sites serves. The name is in lower case.
	HasSite(s Scope, name string) bool

	Status(Scope, Query) (*Status, error)
	Lines(Scope, LinesQuery) (*Lines, error)
	Check(Scope, CheckQuery) (*Check, error)
	Health(Scope) (*Health, error)

	// Refresh reads sources again. It waits until all are read or ctx is done.
	Refresh(context.Context, Scope, RefreshQuery) (*Refresh, error)
	// ResetBudgets forgets what a crawler has used of its budgets.
	ResetBudgets(context.Context, Scope, ResetQuery) (*Reset, error)
	// SetMode sets the mode of handlers until the next load of the configuration.
	SetMode(context.Context, Scope, ModeQuery) (*Mode, error)
	// HasSwitch reports whether the running configuration has a step with a name that can be
	// switched.
	HasSwitch(name string) bool
	// Switch switches a step off, or on again, until the next load.
	Switch(context.Context, Scope, SwitchQuery) (*Switched, error)
}

// Error is the error of a request that is wrong.
type Error struct {
	Status  int // HTTP status: 400, 404 …
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message.
func Errorf(code int, format string, args ...any) error {
	return &Error{Status: code, Message: fmt.Sprintf(format, args...)}
}
