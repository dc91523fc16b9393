package selection

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// One returns the one robots handler that the flags select from those for which
// suitable returns true. kind describes these in errors, such as " with a policy".
func (c *Flags) One(kind string, suitable func(*Site) bool) (*Site, error) {
	all, err := c.Module.Sites(c.Path)
	if err != nil {
		return nil, err
	}
	list, err := c.Handlers(all, nil, kind, suitable)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		texts := words.Map(list, func(s Site) string { return s.Describe() })
		return nil, fmt.Errorf("%s has several robots handlers%s for %s: select one with --handler. The handlers are %s", c.Path, kind,
			list[0].Name(), strings.Join(texts, "; "))
	}
	return &list[0], nil
}

// Replace replaces settings by those of the robots handler that the flags select,
// if there is a --config.
func (c *Flags) Replace(cmd *cobra.Command, settings *judge.Settings) error {
	if err := c.Validate(cmd); err != nil || c.Path == "" {
		return err
	}
	site, err := c.One("", Any)
	if err == nil {
		*settings = site.Rules
	}
	return err
}
