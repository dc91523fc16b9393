package metrics

import (
	"testing"

	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// A robots.txt that the site does not give is a warning, whether or not an earlier one
// stays in force. A site without robots.txt is usual.
func TestReadLevel(t *testing.T) {
	file := judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /private/\n")}
	for _, tt := range []struct {
		outcome judge.Outcome
		inForce judge.Response
		level   zapcore.Level
		message string
	}{
		{judge.Missing, judge.Response{Status: 404}, zapcore.InfoLevel, "there is no robots.txt: crawlers may fetch everything"},
		{judge.Forbidden, judge.Response{Status: 403}, zapcore.WarnLevel, "robots.txt is refused: crawlers may fetch everything"},
		{judge.Forbidden, file, zapcore.WarnLevel, "robots.txt is refused: the last good copy stays in force for 24 hours"},
		{judge.Redirected, file, zapcore.WarnLevel, "robots.txt redirects to another host: the last good copy stays in force for 24 hours"},
		{judge.Failed, file, zapcore.ErrorLevel, "robots.txt can't be fetched: the last good copy stays in force"},
	} {
		rules, err := new(judge.Settings).Rules(tt.inForce)
		if err != nil {
			t.Fatal(err)
		}
		if level, message := ReadLevel(&origins.FetchEvent{Outcome: tt.outcome, Rules: rules}); level != tt.level || message != tt.message {
			t.Errorf("%s, %d in force: %s %q, want %s %q", tt.outcome, tt.inForce.Status, level, message, tt.level, tt.message)
		}
	}
}
