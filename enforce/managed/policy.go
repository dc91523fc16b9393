package managed

// Policy has the operator's rules for crawlers, by purpose or by name. The
// order of its statements does not matter. The Line of each statement is where
// the operator wrote it; 0 where there is no such line.
type Policy struct {
	// Named sets of statements: `no-training` or `no-ai`.
	Presets []Preset `json:"presets,omitempty"`

	// Crawlers that may fetch nothing, or nothing below certain paths.
	Deny []Deny `json:"deny,omitempty"`

	// Crawlers that a `deny` of their purpose does not apply to.
	Allow []Allow `json:"allow,omitempty"`

	// Crawlers that are given a Crawl-delay.
	Delay []Delay `json:"delay,omitempty"`

	// Content-Signal preferences, published in every group that may crawl.
	Signal []Preference `json:"signal,omitempty"`

	// Content-Usage preferences (IETF AIPREF), published in every group that
	// may crawl.
	Usage []Preference `json:"usage,omitempty"`

	// Licences of the site's content (RSL).
	License []License `json:"license,omitempty"`

	// Paths that no crawler may fetch and that are published nowhere.
	Hidden []Hidden `json:"hidden,omitempty"`
}

// Preset is a named set of statements.
type Preset struct {
	// `no-training` or `no-ai`.
	Name string `json:"name"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Deny denies crawlers all of a site, or some of its paths.
type Deny struct {
	// Purposes and names of crawlers in the registry. For a crawler with its
	// own group in the site's robots.txt, denying its purpose changes nothing;
	// denying its name replaces that group.
	Crawlers []string `json:"crawlers"`

	// The paths, in robots.txt syntax. Default: the whole site.
	Paths []string `json:"paths,omitempty"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Allow makes exceptions to the purposes that are denied. It publishes
// nothing: an excepted crawler is bound by what the site's own file says.
type Allow struct {
	// Names of crawlers in the registry.
	Crawlers []string `json:"crawlers"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Delay gives crawlers a Crawl-delay. Crawlers whose operators document that
// they ignore Crawl-delay are skipped.
type Delay struct {
	// Purposes and names of crawlers in the registry.
	Crawlers []string `json:"crawlers"`

	// The time between two requests, such as `10s`: 100 ms to 24 h. If the
	// site's own file sets a longer one, that one stays.
	Interval string `json:"interval"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Preference is a key and its value, such as `ai-train=no`.
type Preference struct {
	// The key, such as `ai-train`.
	Key string `json:"key"`

	// Its value, such as `no`.
	Value string `json:"value"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// License is the address of a licence.
type License struct {
	// An absolute URL.
	URL string `json:"url"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Hidden is a path that no crawler may fetch, and that is published nowhere.
type Hidden struct {
	// The path, in robots.txt syntax.
	Path string `json:"path"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Publishes reports whether the policy has any statement that is published:
// all but Hidden.
func (p *Policy) Publishes() bool {
	return len(p.Presets)+len(p.Deny)+len(p.Delay)+len(p.Signal)+len(p.Usage)+len(p.License) > 0
}
