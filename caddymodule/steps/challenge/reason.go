package challenge

import "github.com/caddy-robots/caddy-robots/enforce/judge"

// Layer has the line challenge.
var Layer = judge.RegisterLayer(judge.LayerInfo{Name: "challenge"})

// Reasons of decisions on strangers.
var (
	Asked = judge.RegisterReason(judge.ReasonInfo{
		Name: "challenge", Action: judge.Ask,
		Meaning: "strangers storm the path, and the client has not shown that it is a browser",
		Answer:  &judge.AnswerInfo{Verdict: "challenge", Line: "challenge", Page: true},
	})
	HeldUp = judge.RegisterReason(judge.ReasonInfo{
		Name: "challenge_limit", Action: judge.Throttle,
		Meaning: "strangers storm the path, and more come with the crawler's name than `over` allows",
		Status:  429, Text: "Too many requests for these pages come with the name of your crawler at present.",
	})
)
