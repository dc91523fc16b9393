// Package memory measures the memory of many hosts and many sites, always as a
// ratio to the same server without the directive. Its figures are in
// docs/performance.md.
package memory
