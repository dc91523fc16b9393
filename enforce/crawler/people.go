package crawler

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed people.txt
var peopleForms string

// expandPeople returns the User-Agents that the lines of people.txt stand for.
func expandPeople(text string) []string {
	var agents []string
	values := map[string][]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, list, ok := strings.Cut(line, " = "); ok && !strings.ContainsAny(name, " /") {
			values["{"+name+"}"] = strings.Split(list, " | ")
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		most := 1
		for name, list := range values {
			if strings.Contains(line, name) {
				most = max(most, len(list))
			}
		}
		for i := range most {
			agent := line
			for name, list := range values {
				agent = strings.ReplaceAll(agent, name, list[i%len(list)])
			}
			agents = append(agents, agent)
		}
	}
	return agents
}

// place is the beginning of a word in the User-Agent of a person.
type place struct{ agent, start uint16 }

// people has the User-Agents of people.txt, and where each word of them begins.
type people struct {
	agents []string
	places map[uint64][]place // by the word's hash
}

var peopleIndex = sync.OnceValue(func() *people {
	p := &people{expandPeople(peopleForms), map[uint64][]place{}}
	for n, agent := range p.agents {
		for i := 0; i < len(agent); {
			hash, length := firstWord(agent[i:])
			if length == 0 {
				i++
				continue
			}
			end := i + length
			p.add(hash, n, i)
			for _, cut := range [...]int{i + cutVersion(agent[i:end]), beforeDigits(agent, i, end)} {
				if i < cut && cut < end {
					hash, _ := firstWord(agent[i:cut])
					p.add(hash, n, i)
				}
			}
			i = end
		}
	}
	return p
})

func (p *people) add(hash uint64, agent, start int) {
	p.places[hash] = append(p.places[hash], place{uint16(agent), uint16(start)})
}

// send reports whether one of the User-Agents has a token, which must be folded.
func (p *people) send(token string) bool {
	hash, _ := firstWord(token)
	for _, at := range p.places[hash] {
		if hasToken(p.agents[at.agent][at.start:], token) {
			return true
		}
	}
	return false
}
