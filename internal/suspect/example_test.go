package suspect_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// A client with the User-Agent of Chrome reads /robots.txt without the fields
// that Chrome always sends, and then 60 pages, ten a second.
func Example() {
	watch := suspect.NewWatch(suspect.Config{})
	now := time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	var standing suspect.Standing
	for i := range 61 {
		request := suspect.Request{
			Site:       "example.com",
			Connection: "192.0.2.1:50000",
			Client:     netip.MustParseAddr("192.0.2.1"),
			Target:     fmt.Sprintf("/page%d", i),
			UserAgent:  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
			Header:     http.Header{},
			Secure:     true,
			Time:       now.Add(time.Duration(i) * time.Second / 10),
		}
		if i == 0 {
			request.Target, request.RobotsTxt = "/robots.txt", true
		}
		standing = watch.See(&request, time.Hour)
	}
	fmt.Println(standing.Suspect, standing.Signals)
	// Output:
	// true robots_txt,pace
}
