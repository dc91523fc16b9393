package commands

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/report"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

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
