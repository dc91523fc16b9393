package crawler

import (
	_ "embed"
	"slices"
	"strings"
	"sync/atomic"
	"weak"

	"github.com/mssola/useragent"
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

// keptPeople is the result of newPeople while the garbage collector leaves it: it
// is needed only while robots.txt files and registries are compiled.
var keptPeople atomic.Pointer[weak.Pointer[people]]

func peopleIndex() *people {
	if kept := keptPeople.Load(); kept != nil {
		if p := kept.Value(); p != nil {
			return p
		}
	}
	p := newPeople()
	keptPeople.Store(new(weak.Make(p)))
	return p
}

func newPeople() *people {
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

// UnknownPart is the value of a field of [Description] that the User-Agent does
// not state, or not reliably.
const UnknownPart = "unknown"

// Description is the browser, the system and the device that a person's User-Agent states. It is for logs and reports, never for a
// decision, because clients can send anything. Each string has at most 64 octets.
type Description struct {
	// such as "Chrome"; "unknown" for apps, for pages shown by an app, and for rare browsers
	Browser        string `json:"browser"`
	BrowserVersion string `json:"browser_version,omitempty"` // as sent; empty if Browser is "unknown"
	Engine         string `json:"engine"`                    // such as "AppleWebKit"
	System         string `json:"system"`                    // such as "Windows 10 or 11", "iOS 17.4", "Android 13"
	Device         string `json:"device,omitempty"`          // a mobile device's model; empty for computers, and if the browser hides it
	Mobile         bool   `json:"mobile,omitempty"`          // a telephone or a tablet
}

// Describe returns the browser, system and device that a person's User-Agent states, as github.com/mssola/useragent finds them. Browser is
// "unknown" if a product in the User-Agent may be another browser, or an app that shows pages. Describe reads the first [MaxUserAgent]
// octets. It allocates memory, so do not call it for each request.
func Describe(ua string) Description {
	d := Description{Browser: UnknownPart, Engine: UnknownPart, System: UnknownPart}
	ua = cut(ua)
	u := parse(ua)
	if u == nil {
		return d
	}
	mainstream, versioned := outerWords(ua)
	if name, version := u.Browser(); mainstream && slices.Contains(browsers, name) && !strings.Contains(ua, "; wv)") {
		d.Browser, d.BrowserVersion = name, bounded(version)
	}
	if engine, _ := u.Engine(); slices.Contains(engines, engine) {
		d.Engine = engine
	}
	d.System = system(u.OSInfo(), ua)
	d.Mobile = u.Mobile()
	if model := u.Model(); d.Mobile && model != "" && model != "K" { // K: Chrome's reduced User-Agent
		d.Device = bounded(strings.TrimPrefix(model, "SAMSUNG "))
	}
	if d.Browser == "Safari" && d.Mobile && !versioned {
		d.Browser, d.BrowserVersion = UnknownPart, "" // an app shows the page
	}
	return d
}

// browsers and engines are names that the library finds reliably.
var (
	browsers = []string{"Chrome", "Chromium", "Firefox", "Safari", "Edge", "Opera", "Internet Explorer"}
	engines  = []string{"AppleWebKit", "Gecko", "Trident", "Presto", "EdgeHTML"}
)

// outerProducts are the words that mainstream browsers send outside comments.
var outerProducts = strings.Fields(`mozilla applewebkit gecko chrome chromium safari version mobile tablet firefox edg edge edga edgios
	opr opera presto crios fxios like`)

// outerWords reports whether all words outside comments are words that mainstream browsers send, and no word in a comment is one of a
// console's or a television's browser; and whether one of them is `Version`, Safari's version.
func outerWords(ua string) (mainstream, versioned bool) {
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

// system returns the operating system, with its version if browsers send the true one.
func system(info useragent.OSInfo, ua string) string {
	name, version := info.Name, strings.TrimSpace(info.Version)
	switch {
	case strings.Contains(ua, "Windows NT 10.0"):
		return "Windows 10 or 11" // browsers send NT 10.0 for both
	case name == "iPhone OS":
		name = "iOS"
	case name == "OS" && strings.Contains(ua, "iPad"):
		name = "iPadOS"
	case strings.HasSuffix(name, "Mac OS X"):
		name = "Mac OS X"
		if version == "10.15.7" || version == "10.15" {
			version = "10.15 or later"
		}
	case name == "Android" && version == "10" && strings.Contains(ua, "Android 10; K)"):
		version = "10 or later"
	case strings.HasPrefix(name, "CrOS"):
		name, version = "ChromeOS", ""
	}
	hash, _ := firstWord(name)
	if s := baseTable.find(hash); s == nil || s.role&(rolePlatform|roleUnix|roleAndroid) == 0 {
		return UnknownPart
	}
	return bounded(strings.TrimSpace(name + " " + version))
}

// bounded returns the first 64 octets of a text that clients can choose.
func bounded(s string) string { return s[:min(len(s), 64)] }

// parse returns nil if the library panics.
func parse(ua string) (u *useragent.UserAgent) {
	defer func() {
		if recover() != nil {
			u = nil
		}
	}()
	return useragent.New(ua)
}
