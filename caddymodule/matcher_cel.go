package caddymodule

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// CELLibrary makes the matcher available in expressions:
//
//	expression robots('purpose', 'ai-training', 'ai-data') || robots('disallowed')
func (*MatchRobots) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return caddyhttp.CELMatcherImpl("robots", "robots_match_request_list", []*cel.Type{cel.ListType(cel.StringType)},
		func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
			words, err := data.ConvertToNative(reflect.TypeFor[[]string]())
			if err != nil {
				return nil, err
			}
			m, err := newMatchRobots(words.([]string))
			if err != nil {
				return nil, err
			}
			return m, m.Provision(ctx)
		})
}

// newMatchRobots returns the matcher for the arguments of robots() in an
// expression: the name of a field and its values.
func newMatchRobots(words []string) (*MatchRobots, error) {
	m := new(MatchRobots)
	if len(words) == 0 {
		return m, nil
	}
	if flag := map[string]*bool{"disallowed": &m.Disallowed, "suspect": &m.Suspect, "verified": &m.Verified, "impostor": &m.Impostor}[words[0]]; flag != nil {
		if len(words) > 1 {
			return nil, fmt.Errorf("robots: %s takes no value", words[0])
		}
		*flag = true
		return m, nil
	}
	field := m.fields()[words[0]]
	if field == nil {
		return nil, fmt.Errorf("robots: unknown field %q: want %s", words[0], matcherFields)
	}
	if *field = words[1:]; len(*field) == 0 {
		return nil, fmt.Errorf("robots: %s needs at least one value", words[0])
	}
	return m, nil
}

// Interface guard
var _ caddyhttp.CELLibraryProducer = (*MatchRobots)(nil)
