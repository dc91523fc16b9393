package cli

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/headersimport"
)

func headersImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "headers-import <file|->",
		Short: "Converts X-Robots-Tag headers of Apache and nginx into x_robots_tag lines",
		Long: `
Reads an Apache or nginx configuration, finds the directives that set the header
X-Robots-Tag (Header in sections, add_header and more_set_headers in locations),
and prints x_robots_tag lines that send the same header for the same requests.
The lines are grouped by site: each named server or virtual host becomes a site
block. Put lines without a block around them inside the robots block of a site.

A line never sends a directive on a request on which the configuration does not
send it. A directive that no x_robots_tag line can express exactly is not
converted: it is a comment in the output and a message on standard error, with
its line number. A .htaccess file is read as if it were in the site's root folder.

If the configuration has several files, print them as one with the server's
command:
nginx -T, or httpd -t -D DUMP_CONFIG.

The exit status is 0 if everything was converted, 2 if something was not, and 1
if the file can't be read.`,
		Example: `  caddy robots headers-import .htaccess
  nginx -T | caddy robots headers-import -`,
		Args: cobra.ExactArgs(1),
		RunE: run(importHeaders),
	}
}

func importHeaders(cmd *cobra.Command, args []string) (int, error) {
	config, err := readInput(cmd.Context(), args[0], cmd.InOrStdin())
	if err != nil {
		return exitFailed, err
	}
	imported := headersimport.Import(config)
	out := bufio.NewWriter(cmd.OutOrStdout())
	for i, site := range imported.Sites {
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeSite(out, &site, len(imported.Sites) == 1)
	}
	if err := out.Flush(); err != nil {
		return exitFailed, err
	}
	problems := imported.AllProblems()
	for _, p := range problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", shown(args[0]), p)
	}
	if len(problems) > 0 {
		return exitFinding, nil
	}
	return 0, nil
}

// writeSite prints the rules of one site: as a site block if its names are
// valid Caddy addresses, otherwise as lines for the site's robots block.
func writeSite(out io.Writer, site *headersimport.Site, only bool) {
	addresses, all := siteAddresses(site.Names)
	indent := ""
	switch {
	case site.Line == 0 && only:
		fmt.Fprintln(out, "# inside the robots block of your site:")
	case site.Line == 0:
		fmt.Fprintln(out, "# inside the robots block of the site for all other names (outside of all servers and virtual hosts):")
	case !all:
		fmt.Fprintf(out, "# only inside the robots block of the site of line %d (%s):\n", site.Line, nameList(site.Names))
	default:
		fmt.Fprintf(out, "# line %d\n%s {\n\trobots {\n", site.Line, strings.Join(addresses, ", "))
		indent = "\t\t"
	}
	for _, r := range site.Rules {
		fmt.Fprintf(out, "%sx_robots_tag %s\n", indent, r.Rule)
	}
	for _, p := range site.Problems {
		fmt.Fprintf(out, "%s# %s\n", indent, oneLine(p.String()))
	}
	if indent != "" {
		fmt.Fprint(out, "\t}\n}\n")
	}
}

// oneLine replaces line breaks, so that a comment stays on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// nameList returns the names of a site on one line.
func nameList(names []string) string {
	if len(names) == 0 {
		return "it has no name"
	}
	return oneLine(strings.Join(names, " "))
}

// siteAddress matches a name that is a valid Caddy address without changes.
var siteAddress = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// siteAddresses converts the names of a server to Caddy addresses. It returns
// false if that is not possible for all of them: there is no address for a
// regular expression, a wildcard at the end, or a server without a name.
func siteAddresses(names []string) (addresses []string, all bool) {
	for _, name := range names {
		if rest, both := strings.CutPrefix(name, "."); both { // nginx: the name and all below it
			addresses = append(addresses, rest)
			name = "*" + name
		}
		if !siteAddress.MatchString(name) {
			return nil, false
		}
		addresses = append(addresses, name)
	}
	return addresses, len(addresses) > 0
}
