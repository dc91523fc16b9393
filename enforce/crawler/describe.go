package crawler

import "github.com/mssola/useragent"

// Description is what a User-Agent says of the client beside its name: for logs and for people, never for a decision.
type Description struct {
	Browser        string `json:"browser,omitempty"`
	BrowserVersion string `json:"browser_version,omitempty"`
	Engine         string `json:"engine,omitempty"`
	OS             string `json:"os,omitempty"`
	Mobile         bool   `json:"mobile,omitempty"`
}

// Describe tells which browser and operating system a User-Agent claims, by github.com/mssola/useragent. It reads the first
// [MaxUserAgent] octets and allocates: not for the way of a request.
func Describe(ua string) Description {
	u := parse(ua)
	if u == nil {
		return Description{}
	}
	var d Description
	d.Browser, d.BrowserVersion = u.Browser()
	d.Engine, _ = u.Engine()
	d.OS = u.OS()
	d.Mobile = u.Mobile()
	return d
}

// parse returns nil where the library fails on what clients make up.
func parse(ua string) (u *useragent.UserAgent) {
	defer func() {
		if recover() != nil {
			u = nil
		}
	}()
	return useragent.New(ua[:min(len(ua), MaxUserAgent)])
}
