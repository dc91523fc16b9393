package robots

// limits holds the parsed limits and preferences of a group.
type limits struct {
	delays  []CrawlDelay
	rates   []RequestRate
	visits  []VisitTime
	signals []ContentSignal
	usages  []ContentUsage
}

// maxLimits is how many lines of each kind a group keeps: the first ones in the
// file.
const maxLimits = 16

func (l *limits) add(fd *Field) {
	switch fd.Directive {
	case DirectiveCrawlDelay:
		if d, ok := parseCrawlDelay(fd.Value); ok {
			l.addDelay(CrawlDelay{Delay: d, Line: fd.Line})
		}
	case DirectiveRequestRate:
		if r, ok := parseRequestRate(fd.Value); ok && len(l.rates) < maxLimits {
			r.Line = fd.Line
			l.rates = append(l.rates, r)
		}
	case DirectiveVisitTime:
		if w, ok := parseWindow(fd.Value); ok && len(l.visits) < maxLimits {
			l.visits = append(l.visits, VisitTime{Window: w, Line: fd.Line})
		}
	case DirectiveContentSignal:
		if c, ok := parseContentSignal(fd); ok && len(l.signals) < maxLimits {
			l.signals = append(l.signals, c)
		}
	case DirectiveContentUsage:
		if c, ok := parseContentUsage(fd); ok && len(l.usages) < maxLimits {
			l.usages = append(l.usages, c)
		}
	}
}

// addDelay adds a delay. A group keeps only the shortest one.
func (l *limits) addDelay(d CrawlDelay) {
	if len(l.delays) == 0 {
		l.delays = []CrawlDelay{d}
	} else if d.Delay < l.delays[0].Delay {
		l.delays[0] = d
	}
}

// merge adds the limits of another unit of the same group.
func (l *limits) merge(o *limits) {
	for _, d := range o.delays {
		l.addDelay(d)
	}
	l.rates = joinLimits(l.rates, o.rates, func(r *RequestRate) int { return r.Line })
	l.visits = joinLimits(l.visits, o.visits, func(v *VisitTime) int { return v.Line })
	l.signals = joinLimits(l.signals, o.signals, func(c *ContentSignal) int { return c.Line })
	l.usages = joinLimits(l.usages, o.usages, func(c *ContentUsage) int { return c.Line })
}

// joinLimits returns the first lines of a and b in the order of the file.
func joinLimits[T any](a, b []T, line func(*T) int) []T {
	all := joinLines([][]T{a, b}, func(list []T) []T { return list }, line)
	return all[:min(len(all), maxLimits)]
}
