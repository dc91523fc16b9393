// Package step is how a feature of the handler robots meets its core. A step is a Caddy
// module in the namespace http.robots.steps: the core does not know which steps there are,
// and no step knows another. Its lines in a Caddyfile are those with the name of the module.
//
// What a step does is in the optional interfaces of this package. The handler looks for them
// when it is provisioned.
package step

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Namespace is the namespace of the modules.
const Namespace = "http.robots.steps"

// Stage is when a step comes in the way of a request. Steps of the same stage come in the
// order of their names.
type Stage int

// The stages.
const (
	Identify Stage = iota + 1 // what clients claim to be is checked
	Check                     // before the core uses budgets
	Federate                  // when the core may have refused the request
	Limit                     // just before the core uses budgets
	Shed                      // when all other stages let the request through
)

// Info describes a kind of step.
type Info struct {
	Stage Stage

	// Repeatable says that the line may be given several times.
	Repeatable bool

	// NeedsResponse says that the step works only where the handler sees the response or
	// when it ends, so not for the sub-requests of another proxy.
	NeedsResponse bool

	// Asked says that the requests are questions of another proxy, about those of its clients:
	// steps that need the response can't stand beside it, and the block needs a line source.
	Asked bool

	// Headers says that the step is about the headers of responses, so that a site may have no
	// robots.txt on purpose.
	Headers bool

	// Enforces says that the step may refuse requests without a robots.txt.
	Enforces bool

	// Default says that the step is on unless `off` names it. Its settings are empty then.
	Default bool

	// Placeholders have the names of the placeholders of the step, without http.robots; see
	// Recorder. Those in Logged are fields of the access log too, unless they are empty.
	Placeholders, Logged []string

	// Process says that the step is for the whole process: its line stands in the global
	// option robots, and it sees no requests.
	Process bool

	// Words are values of the step's line that may also stand behind the directive robots
	// itself, which is short for the line.
	Words []string

	// Matches has the fields of the matcher robots that match nothing without the step.
	Matches []string
}

// Step is a Caddy module in the namespace. A value is for one handler, or for the process.
//
// UnmarshalCaddyfile gets the lines of one name in a block, one after the other. Its errors
// have the places of the tokens.
type Step interface {
	caddy.Module
	caddyfile.Unmarshaler

	// Info describes the kind of step. It is also called for the zero value.
	Info() Info
	// Join sets up the step when Caddy has provisioned it, before the first request. Its
	// errors get the place of the line.
	Join(site Site) error
}

// Starter is a step that works beside requests.
type Starter interface {
	// Start begins that when the app starts. It must end when the step is cleaned up.
	Start()
}

// Site is the handler that a step belongs to, or the process.
type Site struct {
	// File and Line are the place of the step's line in the configuration, "" and 0 if it is not
	// known.
	File string
	Line int
	// Server is the server of the handler, nil if it is not known.
	Server *caddyhttp.Server
	// ExemptPaths are the patterns of paths on which no request is refused.
	ExemptPaths []string
	// Redirects are the lines answer that redirect clients, by what they answer to.
	Redirects map[string]string
	// Page lets use read the file of the operator's answer for a verdict with a page, if there
	// is one. mark says that there is no page: clients that would get it go on. Errors, also
	// those of use, get the place of the line answer.
	Page func(verdict string, use func(text []byte) error) (mark bool, err error)
	// Storage returns the storage of the configuration.
	Storage func() certmagic.Storage
	// Budgets are the budgets of this server.
	Budgets *throttle.Memory
	// Log is the logger of the app.
	Log *zap.Logger
	// IsLog says that the requests are those of an access log: nothing is kept beyond them, and
	// there is no server, no storage and no store.
	IsLog bool

	// What the following return is known when requests come, and not in Join. For a step of the
	// process they are nil.

	// Key names the handler: the same after a reload that leaves it where it is, and another
	// one for each handler.
	Key func() string
	// Hosts returns the names of the sites of the handler.
	Hosts func() []string
	// Publishes reports whether the handler publishes a robots.txt now, Monitors whether it
	// refuses nothing now, and IsBusy whether a step of it finds the server busy.
	Publishes, Monitors, IsBusy func() bool
	// Store returns what several servers share; nil if each server is alone.
	Store func() Store
}

// Verifier is a step that checks claims to be crawlers. A handler can have one.
type Verifier interface {
	// Verification says how claims are treated. It has no Checker, and the step may not be set
	// up.
	Verification() judge.Verification
	// Bind returns what checks claims to be the crawlers of a registry. It is called before the
	// first request, and whenever the registry changes. end is called when another checker
	// has taken its place; requests that began before may still use it.
	Bind(registry *crawler.Registry) (checker judge.Checker, end func(), err error)
}

// Follower is a step that lets crawlers follow the earlier robots.txt for a while after it
// changed.
type Follower interface {
	// Grace says which crawlers. The step may not be set up.
	Grace() judge.Grace
}

// Incoming is a request as it comes in, with what is to answer it.
type Incoming struct {
	Writer  http.ResponseWriter
	Request *http.Request
	Next    caddyhttp.Handler

	// Asked says that Writer is for the answer to a question about Request: it says only
	// whether the request may pass.
	Asked bool
}

// Receiver is a step that may put another request in the place of one that comes in, before
// anything looks at it.
type Receiver interface {
	// Receive changes what comes in. It returns false if it has answered itself.
	Receive(in *Incoming) bool
}

// Stripper is a step that takes from requests what is its own.
type Stripper interface {
	// Strip does so before anything but Receivers looks at a request. off says that the handler
	// leaves its host alone: then Strip is all of the step that the request meets.
	Strip(x *Exchange, off bool)
}

// Decide decides on a request: it changes x.Decision.
type Decide func(x *Exchange)

// Decider is a step that may change decisions. It must allocate nothing, and take no lock
// that all requests share.
type Decider interface {
	// Wrap returns what takes the place of next, which are the stages that follow. It is
	// called once, before the first request.
	Wrap(next Decide) Decide
}

// Replayer is a Decider that an audit of access logs drives with the requests of a log: Join is
// called with Site.IsLog, and Start is not. Of each request, Exchange.HTTP has what the
// log has. Its clock is the time of the request, and Withdraw and Refuse can't be used.
type Replayer interface {
	Decider
	// Needs says what the log must have for all decisions. It is called after Join.
	Needs() Needs
}

// Needs are what decisions of a step depend on, and not every log has.
type Needs struct {
	// Resolution is how exact the times of requests must be; 0 if that makes no difference.
	Resolution time.Duration
	// Unknown says what can't be told from most logs, for the operator; "" if all can.
	Unknown string
}

// Budgeter is a step that lets requests use budgets of its own: it appends them to
// Exchange.Uses in the stage Limit.
type Budgeter interface {
	// Budgets returns the keys of those that a crawler can use: see enforce.BudgetsOf.
	Budgets(rules *judge.Rules, a *crawler.Agent, verifiable bool) (keys []throttle.Key, perAddr bool)
}

// Named is a step whose lines name crawlers.
type Named interface {
	// CheckNames returns an error for a name that a registry does not have. The step may not be
	// set up.
	CheckNames(registry *crawler.Registry) error
}

// Watchful is a step of which a part can't work if the handler does not see when a request
// ends.
type Watchful interface {
	// Unseen names that part; "" if it is not used. The step may not be set up.
	Unseen() string
}

// Holder is a step that counts the requests of robots that are in flight. The core reads the
// bodies of those that it may hold, so that no client can hold a turn by a body that it does not send.
type Holder interface {
	// Holds reports whether the step may hold a request, before it decides, and with what it is
	// refused if its body can't be read.
	Holds(x *Exchange) (why judge.Reason, line *judge.Place, ok bool)
}

// Answerer is a step that answers some requests itself, in place of the handlers that follow,
// and some of those that it has refused in place of the core.
type Answerer interface {
	// Answers reports whether it answers a request.
	Answers(x *Exchange) bool
	// Answer does it.
	Answer(x *Exchange, w http.ResponseWriter) error
}

// Recorder is a step that has placeholders.
type Recorder interface {
	// Record returns the values of the placeholders of the step for a request, by their names;
	// nil if all of them are empty. The result is used as long as the request lives, also when
	// x is another one's.
	Record(x *Exchange) func(name string) (value string, ok bool)
}

// Responder is a step that sees or changes the response to a request that is let through.
type Responder interface {
	// Respond returns the ResponseWriter for the handlers that follow: w if the step does not
	// ask for this request.
	Respond(x *Exchange, w http.ResponseWriter) http.ResponseWriter
}

// Server is a step that answers requests that are let through, or sees their whole answer.
type Server interface {
	// Serves reports whether the step asks for a request.
	Serves(x *Exchange) bool
	// Serve answers it. next lets the handlers that follow answer.
	Serve(x *Exchange, w http.ResponseWriter, next func(http.ResponseWriter) error) error
}

// HeadReader reads the beginning of a document.
type HeadReader = response.HeadReader

// Reader is a step that finds X-Robots-Tag headers in documents.
type Reader interface {
	// NewReader returns a reader for one document.
	NewReader() HeadReader
}

// Ender is a step that must know when a request has ended.
type Ender interface {
	// End is called once for each request, also after a panic.
	End(x *Exchange)
}

// Busy is a step that knows whether the server is busy.
type Busy interface {
	// IsBusy reports whether it is now. It is safe for concurrent use.
	IsBusy() bool
}

// Editor is a step that adds to robots.txt. A handler can have one. Its methods are also called
// without Join.
type Editor interface {
	// Publishes reports whether it adds lines that clients must get.
	Publishes() bool
	// Edit returns what it adds, for the crawlers of a registry. An error without additions
	// says that they can't be used, and one with additions what has no effect. It is called before
	// the first request, and whenever the registry changes.
	Edit(registry *crawler.Registry) (*judge.Additions, error)
}

// Reviewer is a step that looks at each robots.txt that comes into force.
type Reviewer interface {
	// Review is called once for each, beside requests. The log is limited.
	Review(log *zap.Logger, rules *judge.Rules)
}

// Fitter is a step whose settings may not fit a robots.txt.
type Fitter interface {
	// Misfits returns what is wrong with that under the rules in force. A problem that is
	// statusapi.Severe is an error at load where the file is the handler's own. It is safe for
	// concurrent use.
	Misfits(rules *judge.Rules) []Problem
}

// Switch is a step that the operator can switch off while the server runs, by
// `POST /robots/NAME?set=off|configured` on the admin API.
type Switch interface {
	// Switch switches the step off or on again for a host, or for all hosts ("") of the handler,
	// until the next load. It is safe for concurrent use.
	Switch(host string, on bool)
}

// Placed is a step whose lines refuse requests.
type Placed interface {
	// Places returns the lines.
	Places() []*judge.Place
}

// What a step shows.
type (
	Viewer    = statusapi.Viewer
	Diagnoser = statusapi.Diagnoser
	Explainer = statusapi.Explainer
	Section   = statusapi.Section
	Column    = statusapi.Column
	Problem   = statusapi.Problem
)

// New returns a new step with a name, nil if there is none.
func New(name string) Step {
	info, err := caddy.GetModule(Namespace + "." + name)
	if err != nil {
		return nil
	}
	s, _ := info.New().(Step)
	return s
}

// Names returns the names of the steps of handlers, or of those for the process, in the
// order of their stages. The caller must not change the list.
func Names(process bool) []string { return names()[process] }

// names returns the lists of Names. All modules are registered before it is called.
var names = sync.OnceValue(func() map[bool][]string {
	lists := make(map[bool][]string)
	for _, info := range caddy.GetModules(Namespace) {
		if s := New(info.ID.Name()); s != nil {
			process := s.Info().Process
			lists[process] = append(lists[process], info.ID.Name())
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b string) int {
			return cmp.Or(cmp.Compare(New(a).Info().Stage, New(b).Info().Stage), strings.Compare(a, b))
		})
	}
	return lists
})
