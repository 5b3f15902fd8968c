// Peers that are written in Go, on the egress workload: checks every answer, then measures.
//
// usage: go_peer opa|cel best|written FOLDER RULES
package main

import (
	"fmt"
	"os"
	"time"
)

// decider answers whether request i is allowed. What failed is not.
type decider func(i int) bool

var engines = map[string]func(w *Workload, best bool) (decider, error){"opa": loadOpa, "cel": loadCel}

func main() {
	if len(os.Args) != 5 || engines[os.Args[1]] == nil || (os.Args[2] != "best" && os.Args[2] != "written") {
		fmt.Fprintln(os.Stderr, "usage: go_peer opa|cel best|written FOLDER RULES")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2] == "best", os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "go_peer:", err)
		os.Exit(1)
	}
}

func run(engine string, best bool, folder, count string) error {
	w, err := readWorkload(folder, count)
	if err != nil {
		return err
	}
	begin := time.Now()
	ask, err := engines[engine](w, best)
	if err != nil {
		return err
	}
	load := float64(time.Since(begin).Microseconds()) / 1000
	bad := 0
	for i, allowed := range w.Expected {
		if ask(i) != allowed {
			bad++
		}
	}
	if bad > 0 {
		fmt.Printf("{\"bad\": %d}\n", bad)
		return nil
	}
	median, least := measure(len(w.Requests), ask)
	fmt.Printf("{\"bad\": 0, \"ns_med\": %.1f, \"ns_min\": %.1f, \"load_ms\": %.1f}\n", median, least, load)
	return nil
}
