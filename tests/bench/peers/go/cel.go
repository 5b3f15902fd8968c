package main

import (
	"encoding/json"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

type celText struct {
	Deny  string
	Rules []string
	Rows  string `json:"B"`
}

type celRequest struct {
	Sandbox struct {
		Labels map[string]string
	}
	Host, Method, Path string
	Suffixes           []string
	Port, Tod          int64
	Idle               int64 `json:"idle_s"`
	Token              int64 `json:"token_ttl_s"`
}

// loadCel compiles the denials and one expression for each allow rule, asked in turn, as a host program
// does that lets people write rules; in the best form it is one expression over tables by host.
// Requests, and in the best form the tables, are values of CEL beforehand.
func loadCel(w *Workload, best bool) (decider, error) {
	var text celText
	if err := w.parse("egress_cel_"+w.count+".json", &text); err != nil {
		return nil, err
	}
	requests, err := celRequests(w)
	if err != nil {
		return nil, err
	}
	if best {
		whole, err := compileCel(fmt.Sprintf("!(%s) && (%s)", text.Deny, text.Rows))
		return func(i int) bool { return holds(whole[0], requests[i]) }, err
	}
	programs, err := compileCel(append([]string{text.Deny}, text.Rules...)...)
	return func(i int) bool {
		if holds(programs[0], requests[i]) {
			return false
		}
		for _, rule := range programs[1:] {
			if holds(rule, requests[i]) {
				return true
			}
		}
		return false
	}, err
}

func holds(program cel.Program, request cel.Activation) bool {
	value, _, err := program.Eval(request)
	return err == nil && value == types.True
}

func compileCel(texts ...string) ([]cel.Program, error) {
	table := cel.MapType(cel.StringType, cel.DynType)
	env, err := cel.NewEnv(
		cel.Variable("sandbox", table), cel.Variable("exact", table), cel.Variable("suffix", table),
		cel.Variable("blocked", cel.MapType(cel.StringType, cel.BoolType)),
		cel.Variable("suffixes", cel.ListType(cel.StringType)),
		cel.Variable("host", cel.StringType), cel.Variable("method", cel.StringType), cel.Variable("path", cel.StringType),
		cel.Variable("port", cel.IntType), cel.Variable("tod", cel.IntType),
		cel.Variable("idle_s", cel.IntType), cel.Variable("token_ttl_s", cel.IntType))
	if err != nil {
		return nil, err
	}
	programs := make([]cel.Program, len(texts))
	for i, text := range texts {
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		if programs[i], err = env.Program(checked, cel.EvalOptions(cel.OptOptimize)); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

func celRequests(w *Workload) ([]cel.Activation, error) {
	exact, suffix := map[ref.Val]ref.Val{}, map[ref.Val]ref.Val{}
	for _, rule := range w.Rules {
		table := exact
		if rule.Wild {
			table = suffix
		}
		row := celTable(map[string]ref.Val{"port": types.Int(rule.Port), "methods": celSet(rule.Methods),
			"path": types.String(rule.Path), "start": types.Int(rule.Start), "end": types.Int(rule.End)})
		table[types.String(rule.Host)] = types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{row})
	}
	tables := map[string]any{"exact": types.NewRefValMap(types.DefaultTypeAdapter, exact),
		"suffix": types.NewRefValMap(types.DefaultTypeAdapter, suffix), "blocked": celSet(w.Blocked)}
	requests := make([]cel.Activation, len(w.Requests))
	for i, text := range w.Requests {
		var q celRequest
		if err := json.Unmarshal(text, &q); err != nil {
			return nil, err
		}
		labels := map[string]ref.Val{}
		for name, value := range q.Sandbox.Labels {
			labels[name] = types.String(value)
		}
		variables := map[string]any{
			"sandbox": celTable(map[string]ref.Val{"labels": celTable(labels)}),
			"host":    types.String(q.Host), "method": types.String(q.Method), "path": types.String(q.Path),
			"suffixes": types.NewStringList(types.DefaultTypeAdapter, q.Suffixes),
			"port":     types.Int(q.Port), "tod": types.Int(q.Tod),
			"idle_s": types.Int(q.Idle), "token_ttl_s": types.Int(q.Token)}
		for name, table := range tables {
			variables[name] = table
		}
		var err error
		if requests[i], err = cel.NewActivation(variables); err != nil {
			return nil, err
		}
	}
	return requests, nil
}

func celTable(members map[string]ref.Val) ref.Val {
	table := make(map[ref.Val]ref.Val, len(members))
	for name, value := range members {
		table[types.String(name)] = value
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, table)
}

func celSet(members []string) ref.Val {
	set := make(map[ref.Val]ref.Val, len(members))
	for _, member := range members {
		set[types.String(member)] = types.True
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, set)
}
