package notify

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/command"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/selection"
)

// help has the help of the command.
//
//go:embed help/*.txt
var help embed.FS

func newCommand(m selection.Module) *cobra.Command {
	var test bool
	var path string
	cmd := command.New("notify --test [--config <file>]", "Sends a test message to each URL of the setting notify", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if !test {
				return errors.New("notify needs --test: it sends a message to each URL")
			}
			return testNotify(cmd, m, cmp.Or(path, command.DefaultConfig))
		})
	cmd.Flags().BoolVar(&test, "test", false, "send a test message to each URL")
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration file (default Caddyfile in this folder)")
	return cmd
}

// testNotify sends a message to each URL of a configuration file.
func testNotify(cmd *cobra.Command, m selection.Module, path string) error {
	urls, err := notifyURLs(m, path)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		return fmt.Errorf("%s has no notify in the block robots of its global options", path)
	}
	failed := 0
	test(urls, "This is a test of caddy-robots. Nothing is wrong.", func(name string, err error) {
		if err != nil {
			failed++
			fmt.Fprintf(cmd.OutOrStdout(), "failed  %s: %v\n", name, err)
			return
		}
		fmt.Fprintf(cmd.OutOrStdout(), "sent    %s\n", name)
	})
	if failed > 0 {
		return fmt.Errorf("%d of %d URLs did not get the message", failed, len(urls))
	}
	return nil
}

// notifyURLs returns the URLs of a configuration file: those of the setting, and of the
// handlers of events.
func notifyURLs(m selection.Module, path string) (urls []string, err error) {
	text, err := m.Config(path)
	if err != nil {
		return nil, err
	}
	var c struct {
		Apps struct {
			Robots struct {
				Steps struct {
					Notify struct{ URLs []string }
				}
			}
			Events struct {
				Subscriptions []struct {
					Handlers []struct {
						Handler string
						URLs    []string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	urls = c.Apps.Robots.Steps.Notify.URLs
	for _, s := range c.Apps.Events.Subscriptions {
		for _, h := range s.Handlers {
			if h.Handler == "notify" {
				urls = append(urls, h.URLs...)
			}
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls), nil
}
