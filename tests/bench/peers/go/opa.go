package main

import (
	"bytes"
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// loadOpa prepares one query. As written, each allow rule is a rule of Rego, and a list stands in one; in
// the best form both are data, found by their keys. Requests are parsed beforehand.
func loadOpa(w *Workload, best bool) (decider, error) {
	ctx := context.Background()
	policy, data, err := opaSources(w, best)
	if err != nil {
		return nil, err
	}
	inputs := make([]ast.Value, len(w.Requests))
	for i, request := range w.Requests {
		if inputs[i], err = ast.ValueFromReader(bytes.NewReader(request)); err != nil {
			return nil, err
		}
	}
	store := inmem.NewFromReaderWithOpts(bytes.NewReader(data), inmem.OptReturnASTValuesOnRead(true))
	query, err := rego.New(
		rego.Query("data."+w.decision+".allow"), rego.Module("policy.rego", string(policy)), rego.Store(store),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		results, err := query.Eval(ctx, rego.EvalParsedInput(inputs[i]))
		return err == nil && results.Allowed()
	}, nil
}

func opaSources(w *Workload, best bool) (policy, data []byte, err error) {
	policyName, dataName := w.own("_A", ".rego"), w.own("_A_data", ".json")
	if best {
		policyName, dataName = w.decision+"_B.rego", w.own("_B_data", ".json")
	}
	if policy, err = w.text(policyName); err != nil {
		return nil, nil, err
	}
	if !best && w.decision == "egress" { // all of it is in the policy
		return policy, []byte("{}"), nil
	}
	data, err = w.text(dataName)
	return policy, data, err
}
