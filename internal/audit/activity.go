package audit

import "time"

// Activity has the numbers of requests in steps of equal length. The three lists
// have the same length, at most 400.
type Activity struct {
	Start   *time.Time `json:"start"` // of the first step; nil if no line has a time
	Step    float64    `json:"step"`  // seconds
	People  []int64    `json:"people"`
	Robots  []int64    `json:"robots"`
	Refused []int64    `json:"refused"` // of Robots
}

// maxSteps is the largest number of steps of an Activity.
const maxSteps = 400

// activitySteps are the possible lengths of a step in seconds. Each is a multiple of
// the one before.
var activitySteps = []int64{60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, 28 * 24 * 3600, 364 * 24 * 3600}

// activity counts requests over a period whose length is not known in advance. It
// begins with the shortest step.
type activity struct {
	level int   // index in activitySteps
	start int64 // time of the first step, in steps since 1970
	steps []activityStep
}

type activityStep struct{ people, robots, refused int64 }

// at returns the step for a time in nanoseconds since 1970. If more than maxSteps
// steps would be necessary, it changes to a longer step.
func (a *activity) at(nanos int64) *activityStep {
	for {
		n := nanos / 1e9 / activitySteps[a.level]
		switch {
		case len(a.steps) == 0:
			a.start = n
			a.steps = append(make([]activityStep, 0, maxSteps), activityStep{})
			return &a.steps[0]
		case n < a.start && a.start+int64(len(a.steps))-n <= maxSteps:
			a.steps = append(make([]activityStep, a.start-n, maxSteps), a.steps...)
			a.start = n
			return &a.steps[0]
		case n >= a.start && n-a.start < maxSteps:
			for int64(len(a.steps)) <= n-a.start {
				a.steps = append(a.steps, activityStep{})
			}
			return &a.steps[n-a.start]
		case a.level+1 == len(activitySteps):
			return &a.steps[0]
		}
		a.coarsen()
	}
}

// coarsen merges the steps into steps of the next longer length.
func (a *activity) coarsen() {
	ratio := activitySteps[a.level+1] / activitySteps[a.level]
	start := a.start / ratio
	merged := make([]activityStep, 0, maxSteps)
	for i, s := range a.steps {
		at := (a.start+int64(i))/ratio - start
		for int64(len(merged)) <= at {
			merged = append(merged, activityStep{})
		}
		m := &merged[at]
		m.people += s.people
		m.robots += s.robots
		m.refused += s.refused
	}
	a.level, a.start, a.steps = a.level+1, start, merged
}

func (a *activity) report() Activity {
	r := Activity{People: []int64{}, Robots: []int64{}, Refused: []int64{}}
	if len(a.steps) == 0 {
		return r
	}
	step := activitySteps[a.level]
	start := time.Unix(a.start*step, 0).UTC()
	r.Start, r.Step = &start, float64(step)
	for _, s := range a.steps {
		r.People, r.Robots, r.Refused = append(r.People, s.people), append(r.Robots, s.robots), append(r.Refused, s.refused)
	}
	return r
}
