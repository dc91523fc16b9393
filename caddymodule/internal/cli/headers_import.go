package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/headersimport"
)

func importHeaders(cmd *cobra.Command, args []string) (int, error) {
	config, err := readInput(cmd.Context(), args[0], cmd.InOrStdin())
	if err != nil {
		return exitFailed, err
	}
	imported := headersimport.Import(config)
	out, status := bufio.NewWriter(cmd.OutOrStdout()), 0
	write := func(indent string, entries []headersimport.Entry) {
		for _, e := range entries {
			fmt.Fprintln(out, indent+e.String())
			if e.Missing {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", shown(args[0]), strings.TrimPrefix(e.String(), "# "))
				status = exitFinding
			}
		}
	}
	write("", imported.Entries)
	used := map[string]bool{}
	for i, site := range imported.Sites {
		if i > 0 {
			fmt.Fprintln(out)
		}
		head, indent, end := siteHead(&site, used)
		fmt.Fprint(out, head)
		write(indent, site.Entries)
		if site.Policy != nil {
			fmt.Fprintf(out, "%spolicy {\n%[1]s\t%s\n%[1]s}\n", indent, strings.Join(site.Policy, "\n\t"+indent))
		}
		fmt.Fprint(out, end)
	}
	return status, out.Flush()
}

// siteHead returns the text before and after the lines of a site, and the blanks
// before each: a site block if its names are valid Caddy addresses that no site
// before it used, otherwise a comment.
func siteHead(site *headersimport.Site, used map[string]bool) (head, indent, end string) {
	addresses, all := siteAddresses(site.Names)
	names := "your site"
	for _, address := range addresses {
		all = all && !used[strings.ToLower(address)]
	}
	if all && site.Line > 0 {
		for _, address := range addresses {
			used[strings.ToLower(address)] = true
		}
		return fmt.Sprintf("# line %d\n%s {\n\trobots {\n", site.Line, strings.Join(addresses, ", ")), "\t\t", "\t}\n}\n"
	}
	if site.Line > 0 {
		names = fmt.Sprintf("the site of line %d (%s)", site.Line, cmp.Or(strings.Join(site.Names, " "), "it has no name"))
	}
	return headersimport.Entry{Comment: "inside the robots block of " + names + ":"}.String() + "\n", "", ""
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
