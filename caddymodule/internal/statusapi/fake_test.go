package statusapi

import (
	"context"
	"slices"
	"strings"
)

// fakeReporter has the sites a.test and *.b.test. It keeps the arguments of the
// last call.
type fakeReporter struct {
	Reporter
	sites []string
	scope Scope
	query any
	calls int
	err   error
}

func newFakeReporter() *fakeReporter {
	return &fakeReporter{sites: []string{"*.b.test", "a.test"}}
}

func (f *fakeReporter) note(scope Scope, query any) {
	f.scope, f.query = scope, query
	f.calls++
}

func (f *fakeReporter) Sites(scope Scope) []string {
	return slices.DeleteFunc(slices.Clone(f.sites), func(s string) bool { return !scope.Site(s) })
}

func (f *fakeReporter) HasSite(scope Scope, name string) bool {
	return slices.Contains(f.Sites(scope), name) || strings.HasSuffix(name, ".b.test")
}

func (f *fakeReporter) Status(scope Scope, q Query) (*Status, error) {
	f.note(scope, q)
	return &Status{Summary: new(Summary), Origins: OriginTally{Rules: 7}}, f.err
}

func (f *fakeReporter) Lines(scope Scope, q LinesQuery) (*Lines, error) {
	f.note(scope, q)
	return new(Lines), f.err
}

func (f *fakeReporter) Check(scope Scope, q CheckQuery) (*Check, error) {
	f.note(scope, q)
	return new(Check), f.err
}

func (f *fakeReporter) Health(scope Scope) (*Health, error) {
	f.note(scope, nil)
	return new(Health), f.err
}

func (f *fakeReporter) Refresh(_ context.Context, scope Scope, q RefreshQuery) (*Refresh, error) {
	f.note(scope, q)
	return new(Refresh), f.err
}

func (f *fakeReporter) ResetBudgets(_ context.Context, scope Scope, q ResetQuery) (*Reset, error) {
	f.note(scope, q)
	return new(Reset), f.err
}

func (*fakeReporter) HasSwitch(name string) bool { return name == "challenge" }

func (f *fakeReporter) Switch(_ context.Context, scope Scope, q SwitchQuery) (*Switched, error) {
	return &Switched{Set: q.Set, Sites: scope.Hosts()}, nil
}

func (f *fakeReporter) SetMode(_ context.Context, scope Scope, q ModeQuery) (*Mode, error) {
	f.note(scope, q)
	return new(Mode), f.err
}
