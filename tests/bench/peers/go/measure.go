package main

import (
	"slices"
	"syscall"
	"time"
)

const (
	warmUp     = 500 * time.Millisecond
	batch      = 60 * time.Millisecond
	batchesMax = 11
	batchesMin = 3
	enough     = 3 * time.Second // of batches, for an engine that is slow
)

// measure asks all requests in turn, batch after batch, and returns the median and the least cost of
// one decision in nanoseconds of CPU time. It is that of the process: the collector of garbage runs
// beside the decisions that made the garbage.
func measure(count int, ask func(int) bool) (median, least float64) {
	round := func() {
		for i := range count {
			ask(i)
		}
	}
	begin, rounds := time.Now(), 0
	for rounds == 0 || time.Since(begin) < warmUp {
		round()
		rounds++
	}
	each := time.Since(begin) / time.Duration(rounds)
	rounds = max(1, int(batch/max(1, each)))
	costs := []float64{}
	for begin = time.Now(); len(costs) < batchesMax && (len(costs) < batchesMin || time.Since(begin) < enough); {
		before := spent()
		for range rounds {
			round()
		}
		costs = append(costs, float64(spent()-before)/float64(rounds*count))
	}
	slices.Sort(costs)
	return costs[len(costs)/2], costs[0]
}

// spent is the CPU time of this process in nanoseconds.
func spent() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
