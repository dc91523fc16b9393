package commands

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// pastOptions has the flags of `caddy robots audit` that ask what Caddy really decided.
type pastOptions struct {
	decided  bool
	clients  []string
	at       string
	requests string
}

func (o *auditOptions) addPast(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.decided, "decided", false, "say what Caddy really refused, by the decisions in its log, instead of the report")
	f.StringArrayVar(&o.clients, "client", nil, "with --decided: only requests of this address or network; may be repeated")
	f.StringVar(&o.at, "at", "", "with --decided: only this day, hour, minute or second, such as 2026-11-23T14:03, in --zone")
	f.StringVar(&o.requests, "requests", "", "with --decided: the requests of this crawler that a rule forbade, one a line, with the rule")
	for _, other := range []string{"suggest", "html", "against"} {
		cmd.MarkFlagsMutuallyExclusive("decided", other)
	}
}

// checkPast checks the flags that ask what Caddy decided.
func (o *auditOptions) checkPast() error {
	if !o.decided && (len(o.clients) > 0 || o.at != "" || o.requests != "") {
		return errors.New("--client, --at and --requests need --decided")
	}
	return nil
}

// addPastTo adds what Caddy decided, and about whom and when, to the options of an audit.
func (o *auditOptions) addPastTo(q *audit.Options) error {
	for _, s := range o.clients {
		p, err := netip.ParsePrefix(s)
		if addr, errAddr := netip.ParseAddr(s); errAddr == nil {
			p, err = addr.Unmap().Prefix(addr.Unmap().BitLen())
		}
		if err != nil {
			return fmt.Errorf("--client %s: want an address, or a network such as 192.0.2.0/24", s)
		}
		q.Clients = append(q.Clients, p)
	}
	if o.at != "" {
		from, ok := o.date(o.at)
		if !ok {
			return fmt.Errorf("--at %s: want a day such as 2026-11-23, or a time such as 2026-11-23T14:03", o.at)
		}
		length := time.Second
		switch len(o.at) {
		case len(time.DateOnly):
			length = 24 * time.Hour
		case len("2026-11-23T14:03"):
			length = time.Minute
		}
		q.From, q.To = from, from.Add(length)
	}
	q.Decided = o.decided
	return nil
}

// printForbidden prints the requests of a crawler that a rule forbade.
func (o *auditOptions) printForbidden(cmd *cobra.Command, q audit.Options) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	n := int64(0)
	err := audit.Forbidden(cmd.Context(), q, o.requests, func(r *audit.Request) error {
		n++
		if o.json {
			return json.NewEncoder(w).Encode(r)
		}
		return report.Forbidden(w, r)
	})
	err = cmp.Or(err, w.Flush())
	if err == nil && n == 0 {
		return fmt.Errorf("the logs have no request of %s that a rule forbade", o.requests)
	}
	return err
}
