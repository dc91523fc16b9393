// Package logfile reads access logs line by line: plain, or compressed with gzip or
// zstd. It detects the format of each log, and merges several logs in order of time,
// so that rotated files and the logs of several servers are read as one.
//
//	logs, err := logfile.NewSequence(files, nil)
//	if err != nil {
//		return err
//	}
//	defer logs.Close()
//	for log, err := range logs.Lines() {
//		// err, log.Entry or log.Problem
//	}
//
// The package judges nothing: it does not know robots.txt. Memory is bounded: a line
// longer than 1 MiB is skipped, NUL octets at the beginning of a line do not count,
// and at most 64 files are open at the same time.
package logfile
