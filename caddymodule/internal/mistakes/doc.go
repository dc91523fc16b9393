// Package mistakes finds what is in force and most likely not what the operator
// meant: lines of a robots.txt that do nothing, sites without rules, and robots
// handlers that decide nothing. Each is a problem of the report of health, with what
// to do about it. It reads and counts nothing itself: callers give it the facts.
//
//	review := mistakes.Find(rules, lint.Lint(rules.File()))
//	problem := (&mistakes.File{Subject: "example.com", Rules: rules, Review: review}).Problem()
package mistakes
