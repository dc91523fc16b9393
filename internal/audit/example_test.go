package audit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

func Example() {
	const log = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/a HTTP/1.1" 200 512 "-" "GPTBot/1.2"
192.0.2.2 - - [07/Nov/2026:12:00:01 +0000] "GET /private/a HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
`
	report, err := audit.Run(context.Background(), audit.Options{
		Files: []logfile.File{{
			Name: "access.log",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil },
		}},
		Sites: []audit.Site{{Robots: []audit.Version{{
			Name:     "robots.txt",
			Response: judge.Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /private/\n")},
		}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Requests, "requests,", report.People, "of people")
	for _, c := range report.Crawlers {
		fmt.Println(c.Name, c.Requests, "request, denied:", c.Denied)
	}
	// Output:
	// 2 requests, 1 of people
	// GPTBot 1 request, denied: 1
}
