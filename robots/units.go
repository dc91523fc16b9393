package robots

import (
	"encoding/binary"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// A unit holds the rules and fields of all blocks and runs that name the same
// set of crawlers. The group of a crawler consists of the units that name it,
// usually one: a match compares the target with one after the other. Units are
// compiled and not groups, so that a list of rules below a thousand User-agent
// lines is compiled only once, and the memory is proportional to the size of the
// file.
type unit struct {
	agents  []int32 // the crawlers, as indexes in parser.names; sorted
	rules   []ruleLine
	noindex []ruleLine
	limited bool // it has lines for limits or noindex
	limits

	ruleset, noindexset *ruleset
}

// finish makes the groups from the blocks and runs.
func (p *parser) finish() {
	if len(p.names) == 0 {
		return
	}
	u := unitTable{parser: p, index: make(map[string]int, len(p.blocks))}
	for i, b := range p.blocks {
		end := endOf(p.blocks, i, block{len(p.refs), len(p.rules)})
		if un := u.unit(p.refs[b.refs:end.refs]); un != nil {
			un.rules = extend(un.rules, p.rules[b.items:end.items])
		}
	}
	for i, r := range p.runs {
		end := endOf(p.runs, i, block{len(p.refs), len(p.fields)})
		if un := u.unit(p.refs[r.refs:end.refs]); un != nil {
			for i := range p.fields[r.items:end.items] {
				un.addField(&p.fields[r.items+i])
			}
		}
	}
	u.groups()
}

// endOf returns where block i ends. all is where the last one ends.
func endOf(list []block, i int, all block) block {
	if i+1 < len(list) {
		return list[i+1]
	}
	return all
}

// extend appends more to list. If list is empty, it returns more itself,
// without copying it.
func extend(list, more []ruleLine) []ruleLine {
	if len(list) == 0 {
		return slices.Clip(more)
	}
	return append(list, more...)
}

func (un *unit) addField(fd *field) {
	un.limited = true
	un.limits.add(fd)
	if fd.directive == DirectiveNoindex && fd.value != "" {
		un.noindex = append(un.noindex, newRuleLine(fd.offset, fd.value, fd.line, noindexLine))
	}
}

// unitTable finds units by their set of crawlers.
type unitTable struct {
	*parser
	index map[string]int
	units []*unit
	set   []int32
	key   []byte
}

// unit returns the unit for the crawlers that refs name, nil if they name none.
func (u *unitTable) unit(refs []ref) *unit {
	u.set = u.set[:0]
	for _, r := range refs {
		u.set = append(u.set, r.token)
		if r.word >= 0 && !u.names[r.word].exact {
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

// groups makes the groups of the file. Crawlers that the same units name share
// a group.
func (u *unitTable) groups() {
	f := u.file
	member := make([][]int32, len(u.names))
	for i, un := range u.units {
		if len(un.rules) > 0 {
			un.ruleset = newRuleset(f, un.rules)
		}
		if len(un.noindex) > 0 {
			un.noindexset = newRuleset(f, un.noindex)
		}
		for _, a := range un.agents {
			member[a] = append(member[a], int32(i))
		}
	}
	shared := make(map[string]*Group) // by the units of the group
	for id, units := range member {
		if len(units) == 0 {
			continue
		}
		a := &u.names[id]
		u.key = appendKey(u.key[:0], units)
		g := shared[string(u.key)]
		if g == nil {
			g = &Group{line: a.line}
			parts := make([]*unit, len(units))
			for i, n := range units {
				parts[i] = u.units[n]
			}
			g.assemble(parts)
			shared[string(u.key)] = g
		}
		g.line = min(g.line, a.line)
		g.tokens = append(g.tokens, a.name)
		if id == starAgent {
			f.star = g
			continue
		}
		f.named = append(f.named, namedGroup{a.name, g})
		if a.exact {
			f.tokens = append(f.tokens, a.name)
		} else {
			f.words = append(f.words, canonical.Lower(a.name))
		}
	}
	slices.SortFunc(f.named, func(a, b namedGroup) int { return a.compare(b.token) })
	f.named, f.tokens = slices.Clone(f.named), slices.Clone(f.tokens)
}

// assemble makes the group of units.
func (g *Group) assemble(units []*unit) {
	var more lines
	limited := false
	for _, un := range units {
		if un.ruleset != nil {
			g.rules = append(g.rules, un.ruleset)
		}
		if un.noindexset != nil {
			more.noindex = append(more.noindex, un.noindexset)
		}
		limited = limited || un.limited
		more.limits.merge(&un.limits)
	}
	g.lines = &noLines
	if limited {
		g.lines = &more
	}
}
