package shed

import "github.com/caddy-robots/caddy-robots/enforce/judge"

// Layer has the line shed.
var Layer = judge.RegisterLayer(judge.LayerInfo{Name: "shed"})

// Reason is given to requests that are refused.
var Reason = judge.RegisterReason(judge.ReasonInfo{
	Name: "shed", Action: judge.Throttle, Meaning: "the server is busy and serves people first",
	Status: 503, Text: "This server is busy, so it serves people first. Come back later.",
	Answer: &judge.AnswerInfo{Verdict: "shed", Line: "shed", Statuses: []int{503}},
})
