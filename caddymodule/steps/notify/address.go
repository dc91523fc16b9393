package notify

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
)

// address is a URL of a service. Errors about it and its name have no secrets of it.
type address struct {
	url     url.URL // as the library has it
	kind    string  // the service, such as smtp
	name    string  // the scheme and, where it is that of a server, the host
	secrets []string
	service types.Service
	ready   bool // the service is initialized
}

// hosted are the services whose URLs have the host of a server. The others have a token or
// an identifier there.
var hosted = []string{
	"bark", "generic", "googlechat", "gotify", "lark", "matrix", "mattermost", "ntfy", "opsgenie", "pagerduty", "rocketchat",
	"signal", "smtp", "zulip",
}

// titled are the services that show a title above the message.
var titled = []string{"gotify", "ntfy", "pushover", "smtp"}

// resolve replaces the placeholders of a URL, and parses it.
func resolve(raw string) (*address, error) {
	resolved, err := caddy.NewReplacer().ReplaceOrErr(raw, true, true)
	if err != nil {
		return nil, err
	}
	return parse(resolved)
}

// Check returns an error for a URL that can't be used. One with placeholders is checked
// when they are known.
func Check(raw string) error {
	if strings.Contains(raw, "{") {
		return nil
	}
	_, err := parse(raw)
	return err
}

// parse parses a URL without placeholders, and uses no network.
func parse(raw string) (*address, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" { // the error may have a part of a secret
		return nil, errors.New("this is no URL of a service: write it as ntfy://ntfy.sh/TOPIC; in user names, passwords and values, " +
			"write other characters than letters and digits as %XX")
	}
	a := &address{url: *u, name: u.Scheme}
	if u.Scheme == "http" || u.Scheme == "https" {
		a.url.Scheme = "generic+" + u.Scheme
	}
	kind, web, isCustom := strings.Cut(a.url.Scheme, "+")
	a.kind = kind
	services := new(router.ServiceRouter)
	service, err := services.NewService(kind)
	if err != nil || kind == "logger" { // which would send nothing
		known := slices.DeleteFunc(services.ListServices(), func(name string) bool { return name == "logger" })
		slices.Sort(known)
		return nil, fmt.Errorf("the URL begins with no known service: want https or one of %s", strings.Join(known, ", "))
	}
	a.service = service
	if slices.Contains(hosted, kind) {
		a.name = cmp.Or(web, u.Scheme) + "://" + u.Host
	}
	a.findSecrets(u)
	if isCustom {
		custom, ok := service.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("the service %s takes no +", kind)
		}
		converted, err := custom.GetConfigURLFromCustom(new(a.url))
		if err != nil {
			return nil, a.mask(err)
		}
		a.url = *converted
	}
	if kind == matrix.Scheme { // to initialize it is to log in
		err = new(matrix.Config).SetURL(new(a.url))
	} else {
		err = service.Initialize(new(a.url), nil)
		a.ready = err == nil
	}
	return a, a.mask(err)
}

// findSecrets collects the parts of a URL that no text may have. Those of one or two
// characters are left out.
func (a *address) findSecrets(u *url.URL) {
	text := u.User.String() + "/" + u.EscapedPath()
	if !slices.Contains(hosted, a.kind) && u.Host != a.kind {
		text += "/" + u.Host
	}
	for _, values := range u.Query() {
		text += "/" + strings.Join(values, "/")
	}
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune("/:@,", c) }) {
		if plain, err := url.PathUnescape(part); err == nil && len(plain) > 2 {
			a.secrets = append(a.secrets, part, plain)
		}
	}
	slices.SortFunc(a.secrets, func(x, y string) int { return len(y) - len(x) })
}

// inURL matches a URL in a text.
var inURL = regexp.MustCompile(`\S*://\S*`)

// mask returns an error without the secrets of the URL, nil if err is nil.
func (a *address) mask(err error) error {
	if err == nil {
		return nil
	}
	text := inURL.ReplaceAllString(err.Error(), "…")
	for _, s := range a.secrets {
		text = strings.ReplaceAll(text, s, "…")
	}
	return errors.New(metrics.Clip(text))
}

// ntfyClients are for ntfy, by whether it checks no certificates. The service's own client
// keeps its connection for ever, and repeats the title of the first message.
var ntfyClients = map[bool]*http.Client{false: {Timeout: patience}, true: {Timeout: patience, Transport: &http.Transport{
	Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, IdleConnTimeout: time.Minute,
}}}

// send delivers a message. It must not be called twice at the same time.
func (a *address) send(m *message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the library panicked: %v", p)
		}
		err = a.mask(err)
	}()
	if !a.ready {
		if err := a.service.Initialize(new(a.url), nil); err != nil {
			return err
		}
		a.ready = true
	}
	if s, ok := a.service.(*ntfy.Service); ok {
		s.SetHTTPClient(ntfyClients[s.Config.DisableTLSVerification])
	}
	text, params := m.title+"\n\n"+m.body, types.Params{}
	if slices.Contains(titled, a.kind) {
		text, params["title"] = m.body, m.title
	}
	return a.service.Send(text, &params)
}
