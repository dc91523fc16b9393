package statusapi

import (
	"slices"
	"time"
)

// Health has the problems of the app, and the state of what all sites share.
type Health struct {
	OK       bool      `json:"ok"`       // there are no problems but notes
	Problems []Problem `json:"problems"` // the most severe first; at most MaxProblems
	More     int       `json:"more"`     // number of problems that are not in Problems
	Sections []Section `json:"sections"` // what the features of handlers show
	Memory   *Memory   `json:"memory"`   // only in the scope of all sites
	Persist  *Persist  `json:"persist"`  // only in the scope of all sites; null without the option persist
}

// MaxProblems is the maximum number of Health.Problems.
const MaxProblems = 50

// The severities of a Problem.
const (
	Severe  = "error"   // rules are not enforced, budgets are not shared, or an accident happened
	Warning = "warning" // anything else
	Remark  = "note"    // nothing has to be done
)

// Kinds of problems that say that rules are not in force, or most likely not those that
// are meant.
const (
	Mistake   = "mistake"  // a line of robots.txt does not do what it says
	NoRules   = "no_rules" // nothing is enforced, though there is, or should be, a robots handler
	Monitored = "monitor"  // everything is in monitor mode for long
)

// IsUnmeant reports whether the Problem.Kind is one of these kinds.
func IsUnmeant(kind string) bool { return kind == Mistake || kind == NoRules || kind == Monitored }

// The values of Action.Where.
const (
	Command   = "command"
	Caddyfile = "caddyfile"  // lines of the block robots
	SiteBlock = "site"       // lines of the block of the site
	RobotsTxt = "robots_txt" // lines of the site's robots.txt
)

// AmongPeople reports whether people's requests have those of a problem among them.
func (h *Health) AmongPeople() bool {
	return slices.ContainsFunc(h.Problems, func(p Problem) bool { return p.AmongPeople })
}

// Action is something that the operator can do.
type Action struct {
	What  string `json:"what"`  // in words, without a point
	Text  string `json:"text"`  // to copy; "" for words alone. What clients sent is in it only in the forms of package snippet
	Where string `json:"where"` // where Text belongs: command, caddyfile, site or robots_txt; "" without Text
}

// Problem is one problem, with advice.
type Problem struct {
	Severity string `json:"severity"`
	// mistake, no_rules, monitor, robots_txt, policy, fleet, list, dns, memory, persist, mode, handlers, probe, impostors, search_partly,
	// busy, registry, challenge, challenge_broken or notify, or that of an accident
	Kind    string `json:"kind"`
	Subject string `json:"subject"` // the host, URL, file or the like that has the problem
	// such as "robots.txt of shop.example.com could not be fetched for 12 minutes; the copy of 14:02 is in force"
	Message string     `json:"message"`
	Advice  string     `json:"advice"`  // what the operator can do, in words
	Actions []Action   `json:"actions"` // the same in steps, the recommended one first; [] if nothing has to be done
	Since   *time.Time `json:"since"`   // when it began, such as `2026-11-22T14:02:11Z`; null if not known
	Until   *time.Time `json:"until"`   // when what it says happened last, in the past tense; null while it lasts
	// whom it is about: a name of the registry, or the class of another crawler; `all` for all crawlers together, or for `*`; empty if nobody
	Crawler string `json:"crawler"`
	Line    int    `json:"line"`   // the line of robots.txt that is to blame, or 0
	Tenant  bool   `json:"tenant"` // it is about the file of a host that only a pattern names, and not of all of them
	// the requests that it is about are counted as people's
	AmongPeople bool `json:"among_people,omitempty"`

	// Whose reports have it, and what Actions are about: sites, or hosts that only a pattern names, the main one first; all sites
	// without. Pattern is that which the first one matches.
	Sites   []string `json:"-"`
	Pattern string   `json:"-"`
	// What is told of it at single hosts, to who may see these and not Sites.
	Parts []Problem `json:"-"`
	// Of too many requests: the folder, and the usual number in a minute.
	Folder string  `json:"-"`
	Usual  float64 `json:"-"`

	// Of accidents. Cause, Crawler and Sites have only fixed words, names of the registry, and what the operator named, so that they
	// may be arguments of a command.

	Cause  string `json:"-"` // of `rules_lost`: missing, not_robots, empty, nuls, forbidden, redirected or shrunk; of `fleet_lost`: the server
	Plain  string `json:"-"` // Message without text of clients or of a robots.txt; "" for Message
	Before int    `json:"-"` // how much is as it should be: rules in the file; of `search_refused`: served requests; of `flood`: the usual requests in a minute; of `strangers`: clients that passed
	Now    int    `json:"-"` // how bad it is: rules, refused requests, requests or addresses in a minute; of `shedding`: requests that wait
	Peak   int    `json:"-"` // of a flood: the largest Now
}

// accidents are the kinds of accidents, with what each is. They change only while the program starts.
var accidents = make(map[string]string)

// NewAccident returns a Problem.Kind of problems that are told: by an event, a message and a
// metric. when says when one begins and ends. Call it while the program starts.
func NewAccident(kind, when string) string {
	accidents[kind] = when
	return kind
}

// Accidents returns the kinds of accidents, with when each begins and ends. The caller must not
// change it.
func Accidents() map[string]string { return accidents }

// IsAccident reports whether the problem is one of those kinds.
func (p *Problem) IsAccident() bool { return accidents[p.Kind] != "" }

// Memory has the sizes of the app's data, and their limits.
type Memory struct {
	Octets    int64 `json:"octets"` // estimated octets
	MaxOctets int64 `json:"max_octets"`
}

// Persist is the file that keeps the counters over a restart.
type Persist struct {
	File    string     `json:"file"`
	Written *time.Time `json:"written"` // null before the first write
	Error   string     `json:"error"`   // of the last write, or of the read at the start; "" if it worked
}
