package crawler

import (
	_ "embed"
	"slices"
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

// occurrence is the beginning of a word in the User-Agent of a person.
type occurrence struct{ agent, start uint16 }

// people has the User-Agents of people.txt, and where each word of them begins.
type people struct {
	agents []string
	places map[uint64][]occurrence // by the word's hash
}

// peopleIndex returns the result of newPeople, which takes 0.4 MB of memory.
var peopleIndex = sync.OnceValue(newPeople)

func newPeople() *people {
	p := &people{expandPeople(peopleForms), map[uint64][]occurrence{}}
	for n, agent := range p.agents {
		for i := 0; i < len(agent); {
			hash, length := firstWord(agent[i:])
			if length == 0 {
				i++
				continue
			}
			end := i + length
			p.add(hash, n, i)
			for k := i; k < end; k++ {
				if agent[k] == '-' { // for tokens of families
					hash, _ := firstWord(agent[i : k+1])
					p.add(hash, n, i)
				}
			}
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
}

func (p *people) add(hash uint64, agent, start int) {
	p.places[hash] = append(p.places[hash], occurrence{uint16(agent), uint16(start)})
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

// PeoplesProduct reports whether a browser or an app of people.txt sends a product token as a
// product, outside comments: a User-Agent of that token alone may be a person's.
func PeoplesProduct(token string) bool {
	p, text := peopleIndex(), foldToken(token)
	hash, _ := firstWord(text)
	return slices.ContainsFunc(p.places[hash], func(at occurrence) bool {
		before := p.agents[at.agent][:at.start]
		return hasToken(p.agents[at.agent][at.start:], text) && strings.Count(before, "(") == strings.Count(before, ")")
	})
}

// outerProducts are the words that mainstream browsers send outside comments.
var outerProducts = strings.Fields(`mozilla applewebkit gecko chrome chromium safari version mobile tablet firefox edg edge edga edgios
	opr opera presto crios fxios like`)

// PlainBrowser reports whether all words outside comments are words that mainstream browsers send, and no word in a comment is one of a
// console's or a television's browser; and whether one of them is `Version`, Safari's version.
func PlainBrowser(ua string) (mainstream, versioned bool) {
	mainstream = true
	depth := 0
	for i := 0; i < len(ua); {
		hash, n := firstWord(ua[i:])
		s := baseTable.find(hash)
		switch {
		case n == 0:
			switch ua[i] {
			case '(', '[':
				depth++
				mainstream = mainstream && ua[i] == '('
			case ')', ']':
				depth = max(depth-1, 0)
			}
			n = 1
		case i > 0 && (ua[i-1] == '/' || ua[i-1] == '.'): // a version
		case depth == 0:
			word := strings.ToLower(ua[i : i+n])
			versioned = versioned || word == "version"
			mainstream = mainstream && (slices.Contains(outerProducts, word) || s != nil && s.role&roleUnix != 0)
		default: // in a comment: consoles and televisions have browsers of their own
			mainstream = mainstream && (s == nil || s.role&roleMobile == 0 || s.role&(roleAndroid|roleForm|roleNoise) != 0)
		}
		i += n
	}
	return mainstream, versioned
}
