package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/evidence"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// pastOptions has the flags of `caddy robots audit` that ask what Caddy really decided.
type pastOptions struct {
	decided       bool
	clients       []string
	at            string
	evidence      string
	out, reporter string
	persist       string
}

func (o *auditOptions) addPast(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.decided, "decided", false, "say what Caddy really refused, by the decisions in its log, instead of the report")
	f.StringArrayVar(&o.clients, "client", nil, "with --decided or --evidence: only requests of this address or network; may be repeated")
	f.StringVar(&o.at, "at", "", "with --decided or --evidence: only this day, hour, minute or second, such as 2026-11-23T14:03, in --zone")
	f.StringVar(&o.evidence, "evidence", "", "write what the log has of this crawler after it read robots.txt, for an abuse desk")
	f.StringVar(&o.out, "out", "", "with --evidence: the files to write, without .txt, .json and .xarf.jsonl; default: evidence-NAME")
	f.StringVar(&o.reporter, "reporter", "", "with --evidence: who reports, such as \"Example Hosting <abuse@example.com>\": also write X-ARF")
	f.StringVar(&o.persist, "persist", "",
		"with --evidence: the file of the setting persist, which has texts of robots.txt; default: that of --config")
	for _, other := range []string{"suggest", "html", "against"} {
		cmd.MarkFlagsMutuallyExclusive("decided", "evidence", other)
	}
}

// asksPast reports whether the command asks what Caddy really decided.
func (o *auditOptions) asksPast() bool { return o.decided || o.evidence != "" }

// checkPast checks the flags that ask what Caddy decided.
func (o *auditOptions) checkPast() error {
	switch {
	case !o.asksPast() && (len(o.clients) > 0 || o.at != ""):
		return errors.New("--client and --at need --decided or --evidence")
	case o.evidence == "" && (o.out != "" || o.reporter != "" || o.persist != ""):
		return errors.New("--out, --reporter and --persist need --evidence")
	case o.asksPast() && len(o.configs) > 1:
		return errors.New("--decided and --evidence compare no configurations: give one --config")
	}
	return nil
}

// past prints or writes what Caddy decided.
func (o *auditOptions) past(cmd *cobra.Command, options audit.Options) error {
	q := &evidence.Query{Options: options}
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
	if o.evidence != "" {
		return o.writeEvidence(cmd, q)
	}
	r, err := evidence.Ask(cmd.Context(), q)
	clearProgress(cmd.ErrOrStderr())
	switch w := cmd.OutOrStdout(); {
	case err != nil:
		return err
	case o.json:
		return report.WriteJSON(w, r)
	default:
		return report.Refusals(w, r, paintFor(w))
	}
}

// writeEvidence writes the files of --evidence, and prints their names.
func (o *auditOptions) writeEvidence(cmd *cobra.Command, q *evidence.Query) error {
	by, err := mail.ParseAddress(cmp.Or(o.reporter, "none@example.com"))
	if err != nil || o.reporter != "" && by.Name == "" {
		return fmt.Errorf("--reporter %s: want a name and an address, such as \"Example Hosting <abuse@example.com>\"", o.reporter)
	}
	if err := o.addTexts(q); err != nil {
		return err
	}
	v, err := evidence.Collect(cmd.Context(), q, o.evidence, time.Now())
	clearProgress(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	out := cmp.Or(o.out, "evidence-"+regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(v.Name), "-"))
	list := []string{out + ".txt", out + ".json"}
	err = cmp.Or(writePrivate(list[0], func(w io.Writer) error { return report.Evidence(w, v) }),
		writePrivate(list[1], func(w io.Writer) error { return report.WriteJSON(w, v) }))
	if err == nil && o.reporter != "" {
		list = append(list, out+".xarf.jsonl")
		err = writePrivate(list[2], func(w io.Writer) error { return v.WriteXARF(w, by) })
	}
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nOnly you can read %s. Delete them when the matter is closed, at the latest on %s.\n",
			report.Visible(v.Summary), shown(words.List(list, len(list))), v.DeleteBy)
	}
	return err
}

// addTexts adds the texts of robots.txt in the file of the setting persist.
func (o *auditOptions) addTexts(q *evidence.Query) error {
	name := o.persist
	if name == "" && o.config.path != "" {
		text, err := o.config.module.Config(o.config.path)
		if err != nil {
			return err
		}
		var c struct {
			Apps struct{ Robots struct{ Persist string } }
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		name = caddy.NewReplacer().ReplaceAll(c.Apps.Robots.Persist, "")
	}
	if name == "" {
		return nil
	}
	file, err := localfile.Open(name)
	if errors.Is(err, fs.ErrNotExist) && o.persist == "" {
		return nil // the server of the configuration runs elsewhere
	} else if err != nil {
		return fmt.Errorf("--persist: %w", err)
	}
	defer file.Close()
	texts, err := counters.ReadTexts(file)
	if err != nil {
		return fmt.Errorf("--persist %s: %w", name, err)
	}
	q.TextsFrom, q.Texts = name, make(map[string]string, len(texts))
	for version, one := range texts {
		q.Texts[version] = one.Text
	}
	return nil
}

// writePrivate writes a new file that only its owner can read.
func writePrivate(name string, f func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--out: %w: name files that do not exist", err)
	}
	return errors.Join(f(file), file.Close())
}
