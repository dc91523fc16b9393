package step

import "slices"

// Own is what decides between steps: before those of a stage and all that follow.
type Own struct {
	Before Stage
	Do     Decide
}

// Chain returns the decision of all stages: those of steps, which are in the order of their stages,
// and what decides between them.
func Chain(steps []Step, own ...Own) Decide {
	decide := func(*Exchange) {}
	put := func() {
		do, next := own[len(own)-1].Do, decide
		own = own[:len(own)-1]
		decide = func(x *Exchange) {
			do(x)
			next(x)
		}
	}
	for _, s := range slices.Backward(steps) {
		for len(own) > 0 && s.Info().Stage < own[len(own)-1].Before {
			put()
		}
		if decider, ok := s.(Decider); ok {
			decide = decider.Wrap(decide)
		}
	}
	for len(own) > 0 {
		put()
	}
	return decide
}
