package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// fetchTimeout is the maximum time to fetch a URL.
const fetchTimeout = 30 * time.Second

// MaxInput is the maximum size of a file, in octets.
const MaxInput = 16 << 20

// ReadRobots reads the named robots.txt: a file, an http or https URL, or - for
// standard input. It returns an error for other content, such as a web page, and if
// there is no such file.
func ReadRobots(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	answer, err := ReadAnswer(ctx, name, stdin)
	if err == nil {
		err = Missing(name, answer)
	}
	return answer.Body, err
}

// ReadAnswer is ReadRobots, but a status which means that there is no such file is not an error.
func ReadAnswer(ctx context.Context, name string, stdin io.Reader) (judge.Response, error) {
	answer, err := ReadInput(ctx, name, stdin)
	if err != nil {
		return answer, err
	}
	for _, f := range lint.Lint(robots.Parse(answer.Body[:min(len(answer.Body), 4<<10)]), lint.WithSelect(unreadable...)) {
		return answer, fmt.Errorf("%s is not a robots.txt: %s", Shown(name), f.Message)
	}
	if err := robots.CheckText(answer.Body); err != nil {
		return answer, fmt.Errorf("%s is not a robots.txt: %w", Shown(name), err)
	}
	return answer, nil
}

// Missing returns an error that says that there is no such file, by its answer; nil if
// there is one.
func Missing(name string, answer judge.Response) error {
	if answer.Status == http.StatusOK {
		return nil
	}
	return fmt.Errorf("%s answers %d %s", Shown(RobotsAddress(name)), answer.Status, http.StatusText(answer.Status))
}

// unreadable are the linter's findings for files that are not robots.txt files.
// The first 4 KiB are enough to find them.
var unreadable = []string{"binary", "utf-16"}

// ReadInput reads a file, the robots.txt of a URL, or standard input, whatever is in it. The status
// of the answer is 200, or one which means that there is no such file (RFC 9309, section
// 2.3.1.3). 429 does not: it means that the server limits requests.
func ReadInput(ctx context.Context, name string, stdin io.Reader) (judge.Response, error) {
	answer := judge.Response{Status: http.StatusOK}
	if IsURL(name) {
		source, err := origins.URL(RobotsAddress(name))
		if err != nil {
			return answer, fmt.Errorf("%s is not a valid URL", Shown(name))
		}
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		answer, err = source.Fetch(ctx, judge.Origin{})
		isMissing := answer.Status >= 400 && answer.Status < 500 && answer.Status != http.StatusTooManyRequests
		if err == nil && !isMissing {
			err = Missing(name, answer)
		}
		if answer.Status != http.StatusOK {
			answer.Body = nil
		}
		return answer, err
	}
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return answer, err
		}
		defer file.Close()
		stdin = file
	} else {
		name = "standard input"
	}
	var err error
	answer.Body, err = readAll(name, stdin)
	return answer, err
}

// IsURL reports whether the name of an input is a URL.
func IsURL(name string) bool {
	lower := strings.ToLower(name[:min(len(name), len("https://"))])
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// RobotsAddress returns the address to fetch for a URL: /robots.txt if the URL
// has no path.
func RobotsAddress(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" && u.Path == "" && u.RawQuery == "" {
		return u.JoinPath("/robots.txt").String()
	}
	return name
}

// readAll reads at most MaxInput octets. It returns an error if there are more.
func readAll(name string, r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxInput+1))
	if _, isFile := errors.AsType[*fs.PathError](err); isFile {
		return nil, err // which has the name
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(body) > MaxInput {
		return nil, fmt.Errorf("%s is larger than %d MiB. Crawlers read only the first %d KiB", name, MaxInput>>20, robots.MaxSize>>10)
	}
	return body, nil
}
