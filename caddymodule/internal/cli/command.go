package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/release"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Module is the part of the Caddy module that the commands use.
type Module interface {
	// ReadRegistry returns the crawlers of a registry file in addition to the
	// built-in ones.
	ReadRegistry(path string) (*crawler.Registry, error)
	// HeaderRules returns the x_robots_tag rules of all sites of a
	// configuration file: a Caddyfile, or JSON if its name ends in .json.
	HeaderRules(path string) ([]headers.Setting, error)
	// Sites returns the robots handlers of a configuration file.
	Sites(path string) ([]Site, error)
	// Config returns a configuration file as JSON.
	Config(path string) ([]byte, error)
}

// Register registers `caddy robots` and its subcommands with Caddy. Call it
// once, before Caddy's main function.
func Register(m Module) {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots",
		Short: "Works with robots.txt files and crawlers",
		CobraFunc: func(cmd *cobra.Command) {
			addHelp(cmd)
			cmd.Version = release.Version()
			cmd.SetVersionTemplate("caddy-robots {{.Version}}\n")
			cmd.SetHelpTemplate(cmd.HelpTemplate() +
				"\nDocumentation: https://github.com/caddy-robots/caddy-robots/tree/main/docs\n") // of the subcommands too
			cmd.AddCommand(subcommands(m)...)
			cmd.SuggestionsMinimumDistance = 2
			cmd.SetFlagErrorFunc(flagError) // of the subcommands too
			cmd.RunE = run(runParent)
		},
	})
}

// subcommands returns the commands below `caddy robots`.
func subcommands(m Module) []*cobra.Command {
	list := []*cobra.Command{
		initCommand(m),
		checkCommand(m),
		lintCommand(m),
		newCommand("explain [code]...", "Explains the checks of the linter", cobra.ArbitraryArgs, explain),
		diffCommand(),
		identifyCommand(m),
		verifyCommand(m),
		policyCommand(m),
		statusCommand(),
		auditCommand(m),
		notifyCommand(m),
	}
	for _, cmd := range list {
		addHelp(cmd)
	}
	return list
}

// helpTexts has the help of each command, and its examples after a line "Examples:".
//
//go:embed help/*.txt
var helpTexts embed.FS

// addHelp adds the help and examples of a command.
func addHelp(cmd *cobra.Command) {
	text, err := helpTexts.ReadFile("help/" + cmd.Name() + ".txt")
	must(err)
	help, examples, _ := strings.Cut(string(text), "\n\nExamples:\n")
	cmd.Long, cmd.Example = "\n"+help, strings.TrimSuffix(examples, "\n")
}

// newCommand returns a command that runs f.
func newCommand(use, short string, args cobra.PositionalArgs, f func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: withFlags(args), RunE: run(f)}
}

// runParent prints the help of a command that only has subcommands. It returns
// an error for an unknown subcommand.
func runParent(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(cmd.SuggestionsFor(args[0])...))
}

// fetchTimeout is the maximum time to fetch a URL.
const fetchTimeout = 30 * time.Second

// maxInput is the maximum size of an input, in octets.
const maxInput = 16 << 20

// readRobots reads the named robots.txt: a file, an http or https URL, or - for
// standard input. It returns an error for other content, such as a web page.
func readRobots(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	body, err := readInput(ctx, name, stdin)
	if err != nil {
		return nil, err
	}
	for _, f := range lint.Lint(robots.Parse(body[:min(len(body), 4<<10)]), lint.WithSelect(unreadable...)) {
		return nil, fmt.Errorf("%s is not a robots.txt: %s", shown(name), f.Message)
	}
	if err := robots.CheckText(body); err != nil {
		return nil, fmt.Errorf("%s is not a robots.txt: %w", shown(name), err)
	}
	return body, nil
}

// answerOf returns the answer for a robots.txt that was read. A status which means that
// there is no such file is not an error, but the answer.
func answerOf(body []byte, err error) (judge.Response, error) {
	if status, ok := errors.AsType[*statusError](err); ok && status.missing() {
		return judge.Response{Status: status.code}, nil
	}
	return judge.Response{Status: http.StatusOK, Body: body}, err
}

// unreadable are the linter's findings for files that are not robots.txt files.
// The first 4 KiB are enough to find them.
var unreadable = []string{"binary", "utf-16"}

// readInput reads a file, the robots.txt of a URL, or standard input.
func readInput(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	switch {
	case name == "-":
		return readAll("standard input", stdin)
	case isURL(name):
		return readURL(ctx, robotsAddress(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(name, f)
}

// isURL reports whether the name of an input is a URL.
func isURL(name string) bool {
	lower := strings.ToLower(name[:min(len(name), len("https://"))])
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// robotsAddress returns the address to fetch for a URL: /robots.txt if the URL
// has no path.
func robotsAddress(name string) string {
	if u, err := url.Parse(name); err == nil && u.Path == "" && u.RawQuery == "" {
		return u.JoinPath("/robots.txt").String()
	}
	return name
}

// readURL fetches a URL. If the status is not 200, it returns a *statusError.
func readURL(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid URL", shown(address))
	}
	req.Header.Set("User-Agent", origins.FetcherUserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &statusError{shown(address), resp.Status, resp.StatusCode}
	}
	return readAll(shown(address), resp.Body)
}

// client connects to names below localhost without DNS, as browsers and curl do
// (RFC 6761, section 6.3).
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(strings.ToLower(host), ".localhost") {
			address = net.JoinHostPort("localhost", port)
		}
		return dial(ctx, network, address)
	}
	return &http.Client{Transport: transport}
}()

// statusError is the error for a response whose status is not 200.
type statusError struct {
	address, status string
	code            int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s answers %s", e.address, e.status) }

// missing reports whether the status means that there is no such file (RFC
// 9309, section 2.3.1.3). 429 does not: it means that the server limits
// requests.
func (e *statusError) missing() bool {
	return e.code >= 400 && e.code < 500 && e.code != http.StatusTooManyRequests
}

// readAll reads at most maxInput octets. It returns an error if there are more.
func readAll(name string, r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if _, isFile := errors.AsType[*fs.PathError](err); isFile {
		return nil, err // which has the name
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(body) > maxInput {
		return nil, fmt.Errorf("%s is larger than %d MiB. Crawlers read only the first %d KiB", name, maxInput>>20, robots.MaxSize>>10)
	}
	return body, nil
}

// addDialectFlag adds --dialect.
func addDialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "how the file is read: rfc9309 (default), 1994 or 1996")
}

// addAgentFlag adds --agent, which is required. The crawlers of the registry complete it.
func addAgentFlag(cmd *cobra.Command, agent *string, usage string) {
	cmd.Flags().StringVarP(agent, "agent", "a", "", usage)
	must(cmd.MarkFlagRequired("agent"))
	must(cmd.RegisterFlagCompletionFunc("agent", completeCrawlers))
}

// completeCrawlers completes the User-Agent tokens of the crawlers in the registry.
func completeCrawlers(_ *cobra.Command, _ []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for row := range crawler.Builtin().All() {
		if len(row.UserAgents) > 0 && strings.HasPrefix(strings.ToLower(row.UserAgents[0]), strings.ToLower(begin)) {
			list = append(list, cobra.CompletionWithDesc(row.UserAgents[0], row.Operator))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// must panics if a flag that the code names does not exist.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// dialectFlag is robots.ParseDialect with a default.
func dialectFlag(s string) (robots.Dialect, error) {
	if s == "" {
		return robots.RFC9309, nil
	}
	return robots.ParseDialect(s)
}
