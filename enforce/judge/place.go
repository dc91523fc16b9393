package judge

import (
	"iter"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Layer is where a line comes from: the site's own file, or a part of the configuration.
// It was registered. As with Reason, only its name outlives the process.
type Layer uint8

// LayerInfo describes a Layer.
type LayerInfo struct {
	// Name is its name in logs, placeholders and files.
	Name string
	// Published says that its lines are in the published robots.txt.
	Published bool
}

// RegisterLayer registers a layer.
func RegisterLayer(info LayerInfo) Layer { return layers.add(info) }

// Layers returns all layers, in the order of their numbers, which are 0, 1, 2 …
func Layers() iter.Seq2[Layer, *LayerInfo] { return layers.all() }

// LayerNamed returns the layer with a name.
func LayerNamed(name string) (l Layer, ok bool) { return layers.byName(name) }

// Info returns what was registered. The caller must not change it.
func (l Layer) Info() *LayerInfo { return &layers.values[l] }

// String returns the layer's name; "" for NoLayer.
func (l Layer) String() string { return l.Info().Name }

var (
	// NoLayer is the layer of a decision for which no line was the reason.
	NoLayer = RegisterLayer(LayerInfo{})
	// FileLayer stands for the site's own robots.txt.
	FileLayer = RegisterLayer(LayerInfo{Name: "file", Published: true})
	// PolicyLayer stands for the lines of Additions: they are published with
	// those of the site.
	PolicyLayer = RegisterLayer(LayerInfo{Name: "policy", Published: true})
	// HiddenLayer stands for the hidden paths of Additions. They are published
	// nowhere.
	HiddenLayer = RegisterLayer(LayerInfo{Name: "hidden"})
	// LimitLayer stands for Settings.Limits.
	LimitLayer = RegisterLayer(LayerInfo{Name: "limit"})
)

// Place is a line of the configuration that refuses requests, or asks clients to show that
// they are browsers. It must not be changed while it is used.
type Place struct {
	Layer Layer
	File  string // the name of the configuration file; "" if it is not known
	Line  int    // 0 if it is not known
	Text  string // such as "limit /archive/*: all 30/1m"; "" if it is not shown
}

// Refuse turns d into a decision that a line of the configuration made.
func (d *Decision) Refuse(why Reason, at *Place, retryAfter time.Duration) {
	d.Action, d.Reason, d.RetryAfter, d.place = why.Info().Action, why, retryAfter, at
	d.Layer, d.Line = at.Layer, at.Line
	d.Rule, d.Version, d.Reading = robots.Rule{}, nil, 0
}
