// Peers that are written in Go: checks every answer, then measures.
//
// usage: go_peer opa|cel egress|create best|written FOLDER RULES
package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// decider answers whether request i is allowed. What failed is not.
type decider func(i int) bool

var engines = map[string]func(w *Workload, best bool) (decider, error){"opa": loadOpa, "cel": loadCel}

func main() {
	words := os.Args[1:]
	if len(words) != 5 || engines[words[0]] == nil || !slices.Contains([]string{"egress", "create"}, words[1]) ||
		!slices.Contains([]string{"best", "written"}, words[2]) {
		fmt.Fprintln(os.Stderr, "usage: go_peer opa|cel egress|create best|written FOLDER RULES")
		os.Exit(1)
	}
	if err := run(words[0], words[1], words[2] == "best", words[3], words[4]); err != nil {
		fmt.Fprintln(os.Stderr, "go_peer:", err)
		os.Exit(1)
	}
}

func run(engine, decision string, best bool, folder, rules string) error {
	w, err := readWorkload(decision, folder, rules)
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
