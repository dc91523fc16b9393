package robots

import (
	"encoding/binary"
	"slices"
)

// A unit is all that a file says to one set of crawlers: the rules and fields
// below User-agent lines that name exactly these. The group of a crawler is
// made of the units that it is in, mostly one. Units are compiled, not groups,
// so that a list of rules below a thousand User-agent lines is compiled once.
//
// A crawler that is in several units has their rules compiled together while
// that costs no more than mergeFactor times the rules of the file; beyond it,
// which only a file made for the purpose reaches, its units are asked one
// after the other. So memory stays proportional to the file.
type unit struct {
	agents  []int32 // sorted
	rules   []Rule
	fields  []Field
	noindex []Rule
	limits

	ruleset    *ruleset
	noindexset *ruleset
}

const (
	mergeFactor = 4
	mergeFree   = 4096 // rules that may always be merged
)

// finish makes the groups of what was collected.
func (p *parser) finish() {
	if len(p.names) == 0 {
		return
	}
	u := unitTable{parser: p, index: map[string]int{}}
	for _, b := range p.blocks {
		if b.items[0] < b.items[1] || b.refs[0] < b.refs[1] {
			un := u.unit(b.refs)
			if un != nil {
				un.rules = append(un.rules, p.rules[b.items[0]:b.items[1]]...)
			}
		}
	}
	for _, r := range p.runs {
		if un := u.unit(r.refs); un != nil {
			for i := r.items[0]; i < r.items[1]; i++ {
				un.addField(&p.fields[i])
			}
		}
	}
	u.groups()
}

func (un *unit) addField(fd *Field) {
	un.fields = append(un.fields, *fd)
	un.limits.add(fd)
	if fd.Directive == DirectiveNoindex && fd.Value != "" {
		un.noindex = append(un.noindex, Rule{Pattern: fd.Value, Line: fd.Line, noindex: true})
	}
}

// unitTable finds units by the set of crawlers that they are for.
type unitTable struct {
	*parser
	index map[string]int
	units []*unit
	set   []int32
	key   []byte
}

// unit returns the unit for the crawlers that a range of refs names.
func (u *unitTable) unit(refs [2]int) *unit {
	u.set = u.set[:0]
	for _, r := range u.refs[refs[0]:refs[1]] {
		u.set = append(u.set, r.token)
		if r.word >= 0 && !u.names[r.word].strong {
			u.set = append(u.set, r.word)
		}
	}
	if len(u.set) == 0 {
		return nil
	}
	slices.Sort(u.set)
	u.set = slices.Compact(u.set)
	u.key = appendKey(u.key[:0], u.set)
	i, ok := u.index[string(u.key)]
	if !ok {
		i = len(u.units)
		u.index[string(u.key)] = i
		u.units = append(u.units, &unit{agents: slices.Clone(u.set)})
	}
	return u.units[i]
}

func appendKey(b []byte, ids []int32) []byte {
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return b
}

// groups makes one group for all crawlers that are in the same units.
func (u *unitTable) groups() {
	f := u.file
	member := make([][]int32, len(u.names))
	for i, un := range u.units {
		if len(un.rules) > 0 {
			un.ruleset = newRuleset(f.dialect, un.rules)
		}
		if len(un.noindex) > 0 {
			un.noindexset = newRuleset(f.dialect, un.noindex)
		}
		for _, a := range un.agents {
			member[a] = append(member[a], int32(i))
		}
	}
	f.named = make(map[string]*Group, len(u.agents))
	shared := make(map[string]*Group)
	budget := mergeFactor*len(u.rules) + mergeFree
	byID := make([]*Group, len(u.names))
	for id, units := range member {
		if len(units) == 0 {
			continue
		}
		a := &u.names[id]
		u.key = appendKey(u.key[:0], units)
		g, ok := shared[string(u.key)]
		if !ok {
			g = &Group{line: a.line}
			for _, i := range units {
				g.units = append(g.units, u.units[i])
			}
			budget = g.assemble(f.dialect, budget)
			shared[string(u.key)] = g
		}
		g.line = min(g.line, a.line)
		g.tokens = append(g.tokens, a.name)
		byID[id] = g
		if a.strong && id != starAgent {
			f.tokens = append(f.tokens, a.name)
		}
	}
	f.star = byID[starAgent]
	for token, id := range u.agents {
		if g := byID[id]; g != nil {
			f.named[token] = g
		}
	}
}

// assemble joins the units of a group. It returns what is left of the number
// of rules that may be copied for that.
func (g *Group) assemble(d Dialect, budget int) int {
	rules, fields := 0, 0
	for _, un := range g.units {
		if un.ruleset != nil {
			g.rules = append(g.rules, un.ruleset)
			rules += len(un.rules)
		}
		if un.noindexset != nil {
			g.noindex = append(g.noindex, un.noindexset)
			fields += len(un.noindex)
		}
	}
	if len(g.units) == 1 {
		g.limits = g.units[0].limits
		return budget
	}
	for _, un := range g.units {
		g.limits.merge(&un.limits)
	}
	if len(g.rules) > 1 && rules <= budget {
		budget -= rules
		g.rules = []*ruleset{newRuleset(d, joinRules(g.rules))}
	}
	if len(g.noindex) > 1 && fields <= budget {
		budget -= fields
		g.noindex = []*ruleset{newRuleset(d, joinRules(g.noindex))}
	}
	return budget
}
