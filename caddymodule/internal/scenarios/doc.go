// Package scenarios has the test that runs testdata/scenarios.
package scenarios
